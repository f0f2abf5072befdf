// Instead of a rule of the parser that is disabled.

export default (): boolean => false;
