// Package login logs browsers in at the issuer of tokens, and keeps their sessions.
//
// A browser holds one cookie of 32 random bytes. A row of netsim.console_sessions has the
// SHA-256 of the cookie, and the tokens of the issuer, sealed with a key that is not in the
// database. So neither the cookie nor the row is worth anything alone, and no token reaches
// the browser.
//
// A login is OpenID Connect's code flow with PKCE, state and nonce. What the login needs to
// remember between its two requests is in a second cookie, sealed and valid for ten minutes,
// so that a request without a session stores nothing.
//
// API turns requests of browsers into requests of the API: it replaces the cookie by the
// access token of the session. The API reads no cookie, so a request that other pages make a
// browser send does nothing there. Here it is refused: the cookie is SameSite=Lax, and
// http.CrossOriginProtection refuses what changes something and comes from another origin.
//
// An access token is refreshed shortly before it expires. An issuer that rotates refresh
// tokens accepts each of them once, so a refresh is done once: the process that takes the
// lease of the row calls the issuer, and others use the old token while it is valid and wait
// for the new one otherwise. The lease ends by itself if its process dies. No database
// session is held while the issuer works.
//
//	refreshed           the row has the new tokens and the next generation
//	issuer refuses      the row is deleted, and the browser gets 401
//	issuer is away      the old token is used while it is valid, then 503; the row stays
//	database is away    503; the row stays
//
// A session ends at its logout, NETSIM_CONSOLE_SESSION_LIFE after its login, without a
// request for NETSIM_CONSOLE_SESSION_IDLE, when the issuer refuses to refresh, or when its
// row is lost. Losing all rows logs everybody out, and nothing else.
package login
