package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// AttachMappingFile makes a mapping file place the ranks of the chakra
// applications. Repeating it changes nothing. Its refusals are in the order of
// completions 3.5 row 35.
type AttachMappingFile struct {
	ID            string
	Match         Match
	MappingFileID string
	Live          bool  // the file exists in the configuration's workspace
	RankCount     int64 // of the file
}

// Decide implements Command.
func (c AttachMappingFile) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	document, err := s.open(c.ID, c.Match)
	switch {
	case err != nil:
		return nil, err
	case !document.HasChakra():
		return nil, fault.New(fault.MappingRequiresChakraApp, "configuration %s has no chakra application", c.ID)
	case s.TracesetID == "":
		return nil, fault.New(fault.MappingRequiresTraceset, "configuration %s has no traceset attached", c.ID)
	case s.RankCount == 0:
		return nil, fault.New(fault.Conflict, "the rank count of traceset %s is not known yet", s.TracesetID)
	case !c.Live:
		return nil, fault.Missing("mapping file", c.MappingFileID)
	case c.RankCount != s.RankCount:
		return nil, fault.New(fault.MappingRankCountMismatch, "mapping file %s places %d ranks, traceset %s has %d",
			c.MappingFileID, c.RankCount, s.TracesetID, s.RankCount)
	case s.MappingFile == c.MappingFileID:
		return nil, nil
	}
	return s.fitting(events.ConfigurationMappingFileAttached{Version: s.Version + 1, MappingFileID: c.MappingFileID})
}
