package netsim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOnlyOnePackageSaysHowToConnectToKafka: clients of kafka-go and sarama connect as the
// package infra/broker says. A client that is made without it would ignore TLS and SASL.
func TestOnlyOnePackageSaysHowToConnectToKafka(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "." || path == "infra/broker" || path == "internal/teststack" || path == "cmd/netsim-dev" || path == "tools") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imports := kafkaImports(file)
		if len(imports) == 0 {
			return nil
		}
		seen++
		for _, made := range madeWithoutBroker(file, imports) {
			t.Errorf("%s makes a %s without infra/broker", path, made)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 8 {
		t.Errorf("only %d files import a client of Kafka", seen)
	}
}

// kafkaImports maps the names of the packages of Kafka clients in a file to their paths.
func kafkaImports(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		name := map[string]string{
			"github.com/segmentio/kafka-go":                         "kafka",
			"github.com/IBM/sarama":                                 "sarama",
			"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka": "kafka",
		}[path]
		if name != "" && spec.Name != nil {
			name = spec.Name.Name
		}
		if name != "" {
			names[name] = path
		}
	}
	return names
}

// madeWithoutBroker lists what a file makes by itself: transports and dialers, clients
// without a transport, readers without a dialer, and settings of sarama in a function that
// does not call Configure.
func madeWithoutBroker(file *ast.File, imports map[string]string) (all []string) {
	// Literals that must have a field; "" forbids the literal.
	fields := map[string]string{
		"Transport": "", "Dialer": "", "Writer": "Transport", "Client": "Transport", "ReaderConfig": "Dialer", "WriterConfig": "Dialer",
		"PublisherConfig": "OverwriteSaramaConfig", "SubscriberConfig": "OverwriteSaramaConfig",
	}
	functions := []string{"Dial", "DialContext", "DialLeader", "DialPartition", "LookupPartition", "LookupPartitions", "LookupLeader"}
	variables := []string{"DefaultTransport", "DefaultDialer"}
	settings := []string{"NewConfig", "DefaultSaramaSyncPublisherConfig", "DefaultSaramaSubscriberConfig"}
	named := func(e ast.Expr) string {
		if s, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && imports[x.Name] != "" {
				return s.Sel.Name
			}
		}
		return ""
	}
	for _, declared := range file.Decls {
		configures, needs := false, ""
		ast.Inspect(declared, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				name := named(n.Type)
				field, checked := fields[name]
				if name != "" && checked && (field == "" || !hasField(n, field)) {
					all = append(all, name)
				}
			case *ast.SelectorExpr:
				if name := named(n); slices.Contains(variables, name) {
					all = append(all, name)
				}
				configures = configures || n.Sel.Name == "Configure"
			case *ast.CallExpr:
				if name := named(n.Fun); slices.Contains(functions, name) {
					all = append(all, name)
				} else if slices.Contains(settings, name) {
					needs = name
				}
			}
			return true
		})
		if needs != "" && !configures {
			all = append(all, needs)
		}
	}
	return all
}

func hasField(literal *ast.CompositeLit, name string) bool {
	return slices.ContainsFunc(literal.Elts, func(e ast.Expr) bool {
		pair, ok := e.(*ast.KeyValueExpr)
		key, is := (*ast.Ident)(nil), false
		if ok {
			key, is = pair.Key.(*ast.Ident)
		}
		return is && key.Name == name
	})
}
