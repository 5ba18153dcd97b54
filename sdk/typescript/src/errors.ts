import { isRecord, parse } from "./json.js";

/** What every error of this package is. */
export class NetsimError extends Error {
	constructor(message: string, options?: ErrorOptions) {
		super(message, options);
		this.name = new.target.name;
	}
}

/** No whole answer came: the connection failed or broke, or the attempt took longer than `timeout`. */
export class ConnectionError extends NetsimError {}

/** A wait that took longer than it was allowed to. */
export class WaitTimeoutError extends NetsimError {}

/** A webhook that is not from the service, or not from now. */
export class WebhookVerificationError extends NetsimError {}

/** A file that is not what it was when the upload began, or that did not arrive as it is. */
export class UploadError extends NetsimError {}

/** The service refused a request, or something in front of it did. */
export class ApiError extends NetsimError {
	/** HTTP status. */
	readonly status: number;
	/** Stable word for the reason, such as `NOT_FOUND`. Absent if something in front of the service answered. */
	readonly code: string | undefined;
	/** The member or parameter that is wrong, such as `workload.ranks`, as far as the answer names it. */
	readonly field: string | undefined;
	/** For questions to the operator. */
	readonly requestId: string | undefined;
	/** Seconds after which repeating the request makes sense. */
	readonly retryAfter: number | undefined;

	/** The answer, whose body has been read into `body`. */
	constructor(
		readonly response: Response,
		readonly body: string,
	) {
		const { message, code, field, requestId } = envelope(body);
		super(message ?? `${response.status} ${response.statusText}`.trim());
		this.status = response.status;
		this.code = code;
		this.field = field ?? (message && (this.status === 400 || this.status === 422) ? named.exec(message)?.[1] : undefined);
		this.requestId = requestId ?? response.headers.get("X-Request-Id") ?? undefined;
		this.retryAfter = seconds(response.headers);
	}
}

/** 401: the token is missing, wrong or expired. */
export class AuthenticationError extends ApiError {}
/** 402: the account has too little credit. */
export class CreditError extends ApiError {}
/** 403: the token may not do this. */
export class PermissionError extends ApiError {}
/** 404 or 410: it does not exist, or no more. */
export class NotFoundError extends ApiError {}
/** 400 or 422: the request is wrong; `field` says where. */
export class ValidationError extends ApiError {}
/** 429: a quota is used up. */
export class QuotaError extends ApiError {}
/** 503: not now. */
export class UnavailableError extends ApiError {}
/** 409 or 412: the state does not allow it, or another change came first. */
export class ConflictError extends ApiError {
	/** The version that the resource has now, if `If-Match` named another one. */
	readonly currentVersion = /current version "(\d+)"/.exec(this.message)?.[1];
}

const classes: Record<number, typeof ApiError> = {
	400: ValidationError,
	401: AuthenticationError,
	402: CreditError,
	403: PermissionError,
	404: NotFoundError,
	409: ConflictError,
	410: NotFoundError,
	412: ConflictError,
	422: ValidationError,
	429: QuotaError,
	503: UnavailableError,
};

/** The error for an answer that is none of 2xx. */
export function refusal(response: Response, body: string): ApiError {
	return new (classes[response.status] ?? ApiError)(response, body);
}

/** What a message of the service begins with when it is about a field. */
const named = /^(?:query parameter )?'?([A-Za-z][\w.[\]-]*)'?(?: must | is (?:required|unknown|given)|: | ')/;

function envelope(body: string): { message?: string; code?: string; field?: string; requestId?: string } {
	let answer: unknown;
	try {
		answer = parse(body);
	} catch {
		return {}; // Something in front of the service answered, with a page of its own.
	}
	if (!isRecord(answer)) return {};
	const error = isRecord(answer.error) ? { ...answer, ...answer.error } : answer;
	const text = (value: unknown) => (typeof value === "string" ? value : undefined);
	return Object.fromEntries(
		Object.entries({ message: text(error.message) ?? text(error.detail), code: text(error.code), field: text(error.field), requestId: text(error.requestId) }).filter(([, value]) => value),
	);
}

/** `Retry-After` in seconds. A date counts from the answer's own, so the clock here does not matter. */
function seconds(headers: Headers): number | undefined {
	const value = headers.get("Retry-After");
	if (!value) return undefined;
	const after = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.parse(headers.get("Date") ?? "")) / 1000;
	return Number.isFinite(after) ? Math.max(0, after) : undefined;
}
