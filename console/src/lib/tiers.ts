const names: Record<string, readonly [one: string, many: string]> = {
	SSW: ["spine switch", "spine switches"],
	FSW: ["fabric switch", "fabric switches"],
	RSW: ["rack switch", "rack switches"],
	NIC: ["network interface", "network interfaces"],
};
const tier = /\b(SSW|FSW|RSW|ssw|fsw|rsw|NIC)\b/;

/** What one of a tier, or so many of it, are called; the name of the tier if it has no words. */
export function tierName(name: string, times = 1): string {
	return names[name.toUpperCase()]?.[times === 1 ? 0 : 1] ?? name;
}

/** The parts of a text: each second one is the name of a tier, as records have it or in small letters. */
export function byTiers(text: string): string[] {
	return text.split(tier);
}

/** Whether a text names a tier of switches. */
export function namesTier(text: string): boolean {
	return byTiers(text).some((part, at) => at % 2 === 1 && part !== "NIC");
}
