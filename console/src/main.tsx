import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { onSessionEnd, Refusal } from "./api/client";
import { sessionQuery } from "./api/session";
import { createConsole } from "./router";
import "./style.css";

const client = new QueryClient({
	defaultOptions: {
		queries: {
			// Another try helps only if the service was away or busy.
			retry: (failures, error) => failures < 3 && error instanceof Refusal && (error.status === 0 || error.status >= 500 || error.status === 429),
			retryDelay: (failures, error) => Math.max(1000 * 2 ** failures, error instanceof Refusal ? error.retryAfter * 1000 : 0),
			staleTime: 5_000,
		},
	},
});
onSessionEnd(() => client.setQueryData(sessionQuery.queryKey, null));

const root = document.getElementById("root");
if (!root) throw new Error("the index has no element of the id root");
createRoot(root).render(
	<StrictMode>
		<QueryClientProvider client={client}>
			<RouterProvider router={createConsole(client)} />
		</QueryClientProvider>
	</StrictMode>,
);
