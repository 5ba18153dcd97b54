package results

import (
	"strings"
	"unicode/utf8"
)

// nameLength bounds how much of a simulation's name its files' names begin
// with, in characters. A store takes 255 bytes between two slashes, and the
// longest record and shard take 40 of them.
const (
	nameLength = 200
	nameBytes  = 215
)

// filePrefix is what the names of a simulation's files begin with: its name
// with _ for *, cut after 200 characters, and earlier where these have more
// than 215 bytes. The receipt has the whole name.
func filePrefix(simulation string) string {
	name := strings.ReplaceAll(simulation, "*", "_")
	end, characters := 0, 0
	for end < len(name) {
		_, size := utf8.DecodeRuneInString(name[end:])
		if characters == nameLength || end+size > nameBytes {
			break
		}
		end, characters = end+size, characters+1
	}
	return name[:end]
}

// RecordOf is the record of a result file that is called
// {simulation}-{record}-{shard}.csv, "" of a file of another form. Files from
// before names were cut have the whole name of their simulation.
func RecordOf(simulation, file string) string {
	rest, ours := strings.CutPrefix(file, strings.ReplaceAll(simulation, "*", "_")+"-")
	if !ours {
		rest, ours = strings.CutPrefix(file, filePrefix(simulation)+"-")
	}
	rest, csv := strings.CutSuffix(rest, ".csv")
	if !ours || !csv {
		return ""
	}
	if i := strings.LastIndexByte(rest, '-'); i > 0 && strings.Trim(rest[i+1:], "0123456789") == "" {
		return rest[:i]
	}
	return rest
}
