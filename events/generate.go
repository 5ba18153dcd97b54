package events

//go:generate go run ./internal/catalogue
