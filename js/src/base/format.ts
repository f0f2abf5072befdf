// Numbers as people read them.

export function seconds(value: number): string {
	if (value < 100) return `${value.toFixed(1)} s`;
	const whole = Math.round(value);
	return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function count(value: number): string {
	if (value < 1000) return String(value);
	if (value < 999_500) return `${(value / 1000).toFixed(value < 9950 ? 1 : 0)}k`;
	return `${(value / 1_000_000).toFixed(1)}M`;
}

export function bytes(value: number): string {
	if (value < 1000) return `${value} B`;
	if (value < 999_500) return `${(value / 1000).toFixed(value < 99_950 ? 1 : 0)} kB`;
	return `${(value / 1_000_000).toFixed(1)} MB`;
}

export function dollars(value: number): string {
	return value > 0 && value < 0.01 ? `$${value.toFixed(3)}` : `$${value.toFixed(2)}`;
}

export function plural(value: number, noun: string): string {
	return `${value} ${noun}${value === 1 ? "" : "s"}`;
}

export function sumOf<T>(items: readonly T[], measure: (item: T) => number): number {
	return items.reduce((sum, item) => sum + measure(item), 0);
}
