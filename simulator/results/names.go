package results

import (
	"strings"
	"unicode/utf8"
)

// nameLength and nameBytes bound the prefix of file names, in characters and in
// bytes. An object store allows 255 bytes between two slashes; the longest record
// and shard take 40 of them.
const (
	nameLength = 200
	nameBytes  = 215
)

// filePrefix returns the prefix of a simulation's file names: the simulation's name with _
// for *, cut to 200 characters and to 215 bytes. The receipt has the whole name.
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

// RecordOf returns the record of a result file with a name of the form
// {simulation}-{record}-{shard}.csv, "" for other names. Older files have the uncut name
// of their simulation.
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
