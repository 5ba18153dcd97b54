import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { base } from "./api/client";
import { readCompare } from "./lib/compare";
import { readFilters } from "./lib/filters";
import { readConfigurations, readTemplates, readTracesets } from "./lib/inputs";
import { current } from "./lib/reload";
import { parseSearch, stringifySearch, words } from "./lib/search";
import { readStudy } from "./lib/study";
import { readSubmission } from "./lib/submission";
import { LoginPage } from "./pages/login";
import type { HeatSearch } from "./study/heatMap";
import { Crashed, Layout, NotFound } from "./ui/layout";
import { Loading } from "./ui/parts";

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Layout });

const at = <Path extends string>(path: Path) => ({ getParentRoute: () => root, path });

export const startRoute = createRoute({
	...at("/"),
	component: lazyRouteComponent(
		current(() => import("./pages/start")),
		"Start",
	),
});

export const loginRoute = createRoute({
	...at("/login"),
	validateSearch: (search): { next?: string } => words(search, "next"),
	component: LoginPage,
});

export const simulationsRoute = createRoute({
	...at("/simulations"),
	validateSearch: readFilters,
	component: lazyRouteComponent(
		current(() => import("./pages/simulations")),
		"Simulations",
	),
});

export const submitRoute = createRoute({
	...at("/simulations/new"),
	validateSearch: readSubmission,
	component: lazyRouteComponent(
		current(() => import("./pages/submit")),
		"Submit",
	),
});

export type RunSearch = { view?: string; level?: string; component?: string; t?: string; zoom?: string; row?: string; density?: string };

export const runRoute = createRoute({
	...at("/simulations/$id"),
	validateSearch: (search): RunSearch => words(search, "view", "level", "component", "t", "zoom", "row", "density"),
	component: lazyRouteComponent(
		current(() => import("./pages/run")),
		"Run",
	),
});

export const compareRoute = createRoute({
	...at("/compare"),
	validateSearch: readCompare,
	component: lazyRouteComponent(
		current(() => import("./pages/compare")),
		"Compare",
	),
});

export const studiesRoute = createRoute({
	...at("/studies"),
	validateSearch: readFilters,
	component: lazyRouteComponent(
		current(() => import("./pages/studies")),
		"Studies",
	),
});

/** The point that is chosen, the workload of the plot by its number, and the heat map. */
export type StudySearch = { point?: string; workload?: string } & HeatSearch;

export const studyRoute = createRoute({
	...at("/studies/$id"),
	validateSearch: (search): StudySearch => words(search, "point", "workload", "across", "down", "at", "of"),
	component: lazyRouteComponent(
		current(() => import("./pages/study")),
		"Study",
	),
});

export const billsRoute = createRoute({
	...at("/bills"),
	validateSearch: (search): { from?: string; to?: string } => words(search, "from", "to"),
	component: lazyRouteComponent(
		current(() => import("./pages/bills")),
		"Bills",
	),
});

export const newStudyRoute = createRoute({
	...at("/studies/new"),
	validateSearch: readStudy,
	component: lazyRouteComponent(
		current(() => import("./pages/newStudy")),
		"NewStudy",
	),
});

export const streamsRoute = createRoute({
	...at("/streams"),
	component: lazyRouteComponent(
		current(() => import("./pages/streams")),
		"Streams",
	),
});

export const streamRoute = createRoute({
	...at("/streams/$id"),
	validateSearch: (search): { from?: string; state?: string } => words(search, "from", "state"),
	component: lazyRouteComponent(
		current(() => import("./pages/stream")),
		"Stream",
	),
});

export const webhooksRoute = createRoute({
	...at("/webhooks"),
	component: lazyRouteComponent(
		current(() => import("./pages/webhooks")),
		"Webhooks",
	),
});

export const webhookRoute = createRoute({
	...at("/webhooks/$id"),
	component: lazyRouteComponent(
		current(() => import("./pages/webhook")),
		"WebhookPage",
	),
});

export const causesRoute = createRoute({
	...at("/causes/$id"),
	component: lazyRouteComponent(
		current(() => import("./pages/causes")),
		"Causes",
	),
});

export const machineRoute = createRoute({
	...at("/machine"),
	validateSearch: (search): { view?: string } => words(search, "view"),
	component: lazyRouteComponent(
		current(() => import("./pages/machine")),
		"Machine",
	),
});

export const configurationsRoute = createRoute({
	...at("/configurations"),
	validateSearch: readConfigurations,
	component: lazyRouteComponent(
		current(() => import("./pages/configurations")),
		"Configurations",
	),
});

export type ConfigurationSearch = { view?: string; component?: string; from?: string; to?: string; traceset?: string; mappingFile?: string };

export const configurationRoute = createRoute({
	...at("/configurations/$id"),
	validateSearch: (search): ConfigurationSearch => words(search, "view", "component", "from", "to", "traceset", "mappingFile"),
	component: lazyRouteComponent(
		current(() => import("./pages/configuration")),
		"ConfigurationPage",
	),
});

export const templatesRoute = createRoute({
	...at("/templates"),
	validateSearch: readTemplates,
	component: lazyRouteComponent(
		current(() => import("./pages/templates")),
		"Templates",
	),
});

export const templateRoute = createRoute({
	...at("/templates/$id"),
	validateSearch: (search): { component?: string } => words(search, "component"),
	component: lazyRouteComponent(
		current(() => import("./pages/template")),
		"TemplatePage",
	),
});

export const tracesetsRoute = createRoute({
	...at("/tracesets"),
	validateSearch: readTracesets,
	component: lazyRouteComponent(
		current(() => import("./pages/tracesets")),
		"Tracesets",
	),
});

export const tracesetRoute = createRoute({
	...at("/tracesets/$id"),
	component: lazyRouteComponent(
		current(() => import("./pages/traceset")),
		"TracesetPage",
	),
});

export const mappingFilesRoute = createRoute({
	...at("/mapping-files"),
	validateSearch: (search): { workspaceId?: string } => words(search, "workspaceId"),
	component: lazyRouteComponent(
		current(() => import("./pages/mappingFiles")),
		"MappingFiles",
	),
});

export const mappingFileRoute = createRoute({
	...at("/mapping-files/$id"),
	component: lazyRouteComponent(
		current(() => import("./pages/mappingFile")),
		"MappingFilePage",
	),
});

export const uploadRoute = createRoute({
	...at("/upload"),
	validateSearch: (search): { kind?: string; workspaceId?: string } => words(search, "kind", "workspaceId"),
	component: lazyRouteComponent(
		current(() => import("./pages/upload")),
		"UploadPage",
	),
});

const inputs = [configurationsRoute, configurationRoute, templatesRoute, templateRoute, tracesetsRoute, tracesetRoute, mappingFilesRoute, mappingFileRoute, uploadRoute] as const;

export type VerifySearch = { [name in "key" | "account" | "from" | "to" | "preliminary" | "strict" | "noNote" | "cost" | "line"]?: string };

export const verifyRoute = createRoute({
	...at("/bills/verify"),
	validateSearch: (search): VerifySearch => words(search, "key", "account", "from", "to", "preliminary", "strict", "noNote", "cost", "line"),
	component: lazyRouteComponent(() => import("./pages/verify"), "Verify"),
});

const routeTree = root.addChildren([
	startRoute,
	loginRoute,
	simulationsRoute,
	submitRoute,
	runRoute,
	compareRoute,
	studiesRoute,
	studyRoute,
	billsRoute,
	verifyRoute,
	newStudyRoute,
	streamsRoute,
	streamRoute,
	causesRoute,
	webhooksRoute,
	webhookRoute,
	machineRoute,
	...inputs,
]);

export function createConsole(client: QueryClient) {
	let path = "";
	return createRouter({
		routeTree,
		basepath: base,
		context: { client },
		parseSearch,
		stringifySearch,
		// What only the state of a page changes, as a zoom does, leaves the page where it is.
		scrollRestoration: ({ location }) => {
			const another = location.pathname !== path;
			path = location.pathname;
			return another;
		},
		defaultPendingComponent: Loading,
		defaultErrorComponent: Crashed,
		defaultNotFoundComponent: NotFound,
	});
}

declare module "@tanstack/react-router" {
	interface Register {
		router: ReturnType<typeof createConsole>;
	}
}
