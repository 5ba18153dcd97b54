package faults_test

import (
	"os"
	"testing"

	"netsim/internal/scripted"
)

func TestMain(m *testing.M) { os.Exit(scripted.Main(m)) }
