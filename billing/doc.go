// Package billing meters what accounts use, keeps the books of what it costs,
// and holds credit for what is about to run (completions 7). Everything is
// written as commands to the account's stream, which puts them in order.
package billing
