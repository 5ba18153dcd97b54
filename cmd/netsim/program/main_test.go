package program_test

import (
	"os"
	"testing"

	"netsim/infra/backends/scripted"
)

func TestMain(m *testing.M) { os.Exit(scripted.Main(m)) }
