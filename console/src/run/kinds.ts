/** The colours of what ranks and groups do, in both densities of the timeline. */
export const colours = {
	computing: "#3f7fd6",
	"host computing": "#8a63c9",
	sending: "#d98a1f",
	waiting: "#96a0ac",
	collective: "#2e9467",
} as const;
