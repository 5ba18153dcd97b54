// Package webhooks delivers the facts of the log to receivers over HTTP, by Standard
// Webhooks 1.0.0.
package webhooks
