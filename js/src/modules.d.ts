declare module "*.css" {
	const text: string;
	export default text;
}

declare module "*?bundle" {
	const script: string;
	export default script;
}
