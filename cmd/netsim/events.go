package main

type publicEvents struct {
	Status    publicStatus `cmd:"" default:"withargs" help:"Show how far the public topics are (the default)."`
	Republish republish    `cmd:"" help:"Make the public topic of a family again, from its first fact."`
}
