// Instead of the package `mdurl`, of which the parser's rules use nothing.

export {};
