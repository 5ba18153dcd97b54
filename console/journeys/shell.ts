import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";

// The data of the stack. That of a running service is where "make run" keeps it.
const data = process.env.NETSIM_JOURNEYS_OWN ?? process.env.NETSIM_DATA ?? "../.netsim";
const program = join(dirname(process.env.NETSIM_DEV ?? "../bin/netsim-dev"), "netsim");

/** Runs a program in a shell with the settings of the service, as an operator has one, and returns its output. */
function shell(...command: string[]): string {
	return execFileSync("bash", ["-c", '. "$0/environment" && exec "$@"', data, ...command], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** Runs a command of netsim. */
export const netsim = (...args: string[]): string => shell(program, ...args);

/** The value of a setting of the service. */
export const setting = (name: string): string => shell("printenv", name);
