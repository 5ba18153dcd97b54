/** What modules read when they are loaded, for tests without a browser. */
Object.assign(globalThis, {
	document: { documentElement: { dataset: { base: "/console/" } }, baseURI: "http://localhost/console/" },
	location: new URL("http://localhost/console/"),
});
