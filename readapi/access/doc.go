// Package access defines who may see and do what (completions.md section 1.6), in
// one place for reads, lists and writes. README.md has the rules in a table.
package access
