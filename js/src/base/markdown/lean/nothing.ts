// Instead of a rule of the parser that is disabled, and of the package `mdurl`, of which the other rules use nothing.

export default (): boolean => false;
