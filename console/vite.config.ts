import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// The service of make run, for npm run dev. Cookies are of a host and not of a port, so a
// login at the service counts for the development server too.
const service = process.env.NETSIM_HTTP ?? "http://127.0.0.1:8080";

/** While developing, the console is at /console/ as in the service. */
const developmentBase: Plugin = {
	name: "development-base",
	apply: "serve",
	transformIndexHtml: (html) => html.replace('data-base="./"', 'data-base="/console/"'),
};

export default defineConfig({
	plugins: [react(), developmentBase],
	base: "./",
	server: {
		host: "127.0.0.1",
		open: "/console/",
		proxy: Object.fromEntries(
			["api", "session", "login", "logout", "callback"].map((name) => [`^/console/${name}(/|\\?|$)`, { target: service.includes("://") ? service : `http://${service}`, changeOrigin: false }]),
		),
	},
	build: {
		target: "es2024",
		modulePreload: { polyfill: false },
		cssCodeSplit: false,
		assetsInlineLimit: 0,
		// The names are stable: the service serves them below the digest of all of them.
		rollupOptions: {
			output: {
				entryFileNames: "assets/main.js",
				chunkFileNames: "assets/[name].js",
				assetFileNames: "assets/[name][extname]",
			},
		},
	},
	worker: {
		format: "es",
		rollupOptions: { output: { entryFileNames: "assets/[name].js", chunkFileNames: "assets/[name].js" } },
	},
	test: { include: ["src/**/*.test.ts"], environment: "node", setupFiles: "src/test.ts" },
});
