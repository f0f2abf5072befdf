"""The mode "hints": which kind of hint comes next, and a filter that holds back solutions before anyone sees them."""
