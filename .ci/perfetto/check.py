"""Reads a trace with Perfetto's own schema and prints its tracks and slices.

A field that the schema does not have fails the check, and so does a slice that does not end.
"""
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

trace = Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
tracks, names, notes, open_slices, lines = {}, {}, {}, {}, []


def known(message):
    """Fails if a message has fields that the schema does not have."""
    if len(UnknownFieldSet(message)):
        sys.exit(f"unknown fields in {type(message).__name__}")
    for field, value in message.ListFields():
        if field.message_type:
            for part in value if field.is_repeated else [value]:
                known(part)


known(trace)
for packet in trace.packet:
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        parent = tracks.get(track.parent_uuid, "") + " / " if track.parent_uuid else ""
        unit = " in " + track.counter.unit_name if track.HasField("counter") else ""
        tracks[track.uuid] = parent + track.name + unit
    names.update({n.iid: n.name for n in packet.interned_data.event_names})
    notes.update({n.iid: n.name for n in packet.interned_data.debug_annotation_names})
    if not packet.HasField("track_event"):
        continue
    event = packet.track_event
    track = tracks[event.track_uuid]
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        values = "".join(f" {notes[a.name_iid]}={a.int_value}" for a in event.debug_annotations)
        open_slices[event.track_uuid] = (names[event.name_iid], packet.timestamp, values)
    elif event.type == TrackEvent.TYPE_SLICE_END:
        name, start, values = open_slices.pop(event.track_uuid)
        lines.append(f"{track}: {name} {start}-{packet.timestamp}{values}")
    elif event.type == TrackEvent.TYPE_COUNTER:
        lines.append(f"{track}: {packet.timestamp}={event.double_counter_value:g}")
if open_slices:
    sys.exit(f"slices without an end: {open_slices}")
print("\n".join(sorted(lines)))
