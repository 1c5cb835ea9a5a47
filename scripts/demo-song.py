#!/usr/bin/env python3
"""Writes the demo's song as three Standard MIDI files: guitar.mid, bass.mid and drums.mid.

    demo-song.py FOLDER

"Load-In", written for Backline: A minor, 116 beats a minute, two bars of introduction, eight bars picked,
eight bars strummed under a tune, and a last chord. Timing and velocity are humanised from a fixed seed, so
that every run writes the same bytes.
"""

import random
import struct
import sys
from pathlib import Path

TICKS = 480  # a beat
BEATS_PER_MINUTE = 116
BAR = 4  # beats
INTRO, VERSE, CHORUS, CODA = 0, 2 * BAR, 10 * BAR, 18 * BAR

# Voicings as a guitarist would hold them, lowest string first (MIDI notes; 40 is the low E).
CHORDS = {
    "Am7": [45, 52, 55, 60, 64],
    "Fmaj7": [41, 48, 53, 57, 64],
    "C": [48, 52, 55, 60, 64],
    "G/B": [47, 50, 55, 59, 67],
    "Dm7": [50, 57, 60, 65, 69],
    "E7sus4": [40, 47, 52, 57, 62],
    "E7": [40, 47, 52, 56, 62],
    "Amadd9": [45, 52, 57, 59, 60, 64],
}

# A list of (chord, beats) for each bar.
PROGRESSION = [
    [("Am7", 4)], [("Fmaj7", 4)], [("C", 4)], [("G/B", 4)],
    [("Am7", 4)], [("Fmaj7", 4)], [("Dm7", 4)], [("E7sus4", 2), ("E7", 2)],
]

BASS_ROOTS = {"Am7": 33, "Fmaj7": 29, "C": 36, "G/B": 35, "Dm7": 38, "E7sus4": 28, "E7": 28, "Amadd9": 33}

# The chorus's tune: for each bar, (beat, beats, note).
TUNE = [
    [(0, 1.5, 76), (1.5, 0.5, 74), (2, 1, 72), (3, 1, 69)],
    [(0, 2, 72), (2.5, 0.5, 72), (3, 0.5, 74), (3.5, 0.5, 76)],
    [(0, 1.5, 79), (1.5, 0.5, 76), (2, 1, 74), (3, 1, 72)],
    [(0, 2.5, 71), (3, 0.5, 67), (3.5, 0.5, 69)],
    [(0, 1.5, 72), (1.5, 0.5, 71), (2, 1, 69), (3, 1, 76)],
    [(0, 1.5, 77), (1.5, 0.5, 76), (2, 1.5, 72), (3.5, 0.5, 74)],
    [(0, 1, 77), (1, 0.5, 76), (1.5, 0.5, 74), (2, 1, 72), (3, 1, 69)],
    [(0, 1.5, 71), (1.5, 0.5, 74), (2, 1, 76), (3, 1, 80)],
]

# An answer that the same guitar gives in the verse's second half: (bar, beat, beats, note).
ANSWER = [(3, 2.5, 0.5, 67), (3, 3, 0.5, 69), (3, 3.5, 0.5, 71), (4, 0, 2, 72),
          (5, 2.5, 0.5, 69), (5, 3, 0.5, 72), (5, 3.5, 0.5, 74), (6, 0, 2, 77),
          (7, 0, 1, 76), (7, 1, 1, 74), (7, 2, 2, 71)]


class Part:
    """The events of one instrument, which write themselves as a MIDI file."""

    def __init__(self, seed, looseness):
        self.random = random.Random(seed)
        self.looseness = looseness  # beats, the standard deviation of a note's start
        self.events = []  # (tick, order, bytes)

    def setup(self, channel, program, volume=100, pan=64, reverb=30):
        for data in [(0xC0 | channel, program), (0xB0 | channel, 7, volume), (0xB0 | channel, 10, pan),
                     (0xB0 | channel, 91, reverb), (0xB0 | channel, 93, 0)]:
            self.events.append((0, 0, bytes(data)))

    def note(self, channel, beat, beats, pitch, velocity):
        start = max(0.0, beat + self.random.gauss(0, self.looseness))
        velocity = max(1, min(127, round(velocity + self.random.gauss(0, 4))))
        on = round(start * TICKS)
        off = max(on + 1, round((start + beats) * TICKS))
        self.events.append((on, 2, bytes([0x90 | channel, pitch, velocity])))
        self.events.append((off, 1, bytes([0x80 | channel, pitch, 0])))

    def write(self, path):
        tempo = round(60_000_000 / BEATS_PER_MINUTE)
        track = b"\x00\xff\x51\x03" + tempo.to_bytes(3, "big")
        now = 0
        for tick, _, data in sorted(self.events, key=lambda event: event[:2]):
            track += variable_length(tick - now) + data
            now = tick
        track += b"\x00\xff\x2f\x00"
        header = struct.pack(">4sIHHH", b"MThd", 6, 0, 1, TICKS)
        path.write_bytes(header + struct.pack(">4sI", b"MTrk", len(track)) + track)


def variable_length(value):
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F | 0x80)
    return bytes(reversed(groups))


def chords(section):
    """Each chord of eight bars from `section` on, as (bar, beat, beats, name)."""
    for bar, parts in enumerate(PROGRESSION):
        beat = section + bar * BAR
        for name, beats in parts:
            yield bar, beat, beats, name
            beat += beats


def guitar():
    part = Part(seed=1, looseness=0.008)
    rhythm, lead = 0, 1
    part.setup(rhythm, program=25, volume=100, pan=64, reverb=22)  # steel-string
    part.setup(lead, program=27, volume=84, pan=72, reverb=36)  # clean electric

    def pick(beat, beats, name, strength):
        strings = CHORDS[name]
        order = [0, 2, 3, 4, 3, 2, 4, 3]
        for step in range(beats * 2):
            string = order[step % 8]
            accent = 12 if step % 4 == 0 else 0
            # Every note rings until its chord ends.
            part.note(rhythm, beat + step / 2, beats - step / 2, strings[string], strength + accent)

    def strum(beat, beats, name, strength, up=False):
        strings = CHORDS[name][1:][::-1] if up else CHORDS[name]
        for index, pitch in enumerate(strings):
            part.note(rhythm, beat + index * 0.022, beats, pitch, strength - 2 * index)

    for bar, name in enumerate(["Am7", "Fmaj7"]):
        pick(INTRO + bar * BAR, BAR, name, 62 + 6 * bar)
    for bar, beat, beats, name in chords(VERSE):
        pick(beat, beats, name, 68 + bar)
    for bar, beat, beats, note in ANSWER:
        part.note(lead, VERSE + bar * BAR + beat, beats * 0.95, note, 70)

    for bar, beat, beats, name in chords(CHORUS):
        if beats == BAR:
            pattern = [(0, 1, 0), (1, 0.5, 0), (1.5, 1, 1), (2.5, 0.5, 1), (3, 0.5, 0), (3.5, 0.5, 1)]
        else:
            pattern = [(0, 1, 0), (1, 0.5, 0), (1.5, 0.5, 1)]
        for offset, length, up in pattern:
            strum(beat + offset, length * 0.96, name, (66 if up else 78) + (8 if offset == 0 else 0), bool(up))
    for bar, notes in enumerate(TUNE):
        for beat, beats, note in notes:
            part.note(lead, CHORUS + bar * BAR + beat, beats * 0.97, note, 84 + (6 if beat == 0 else 0))

    for index, pitch in enumerate(CHORDS["Amadd9"]):
        part.note(rhythm, CODA + index * 0.07, 5.5, pitch, 82 - 3 * index)
    part.note(lead, CODA, 5.5, 81, 88)
    return part


def bass():
    part = Part(seed=2, looseness=0.006)
    part.setup(0, program=33, volume=110, reverb=0)  # fingered

    part.note(0, INTRO + 7.5, 0.45, 31, 74)  # a pick-up into the verse
    for bar, beat, beats, name in chords(VERSE):
        root = BASS_ROOTS[name]
        part.note(0, beat, 1.4, root, 88)
        part.note(0, beat + 1.5, 0.45, root, 74)
        if beats == BAR:
            part.note(0, beat + 2, 1.4, root + 7 if root < 34 else root, 82)
            part.note(0, beat + 3.5, 0.45, root + (12 if root < 32 else 7), 72)

    line = list(chords(CHORUS))
    for index, (bar, beat, beats, name) in enumerate(line):
        root = BASS_ROOTS[name]
        following = BASS_ROOTS[line[index + 1][3]] if index + 1 < len(line) else BASS_ROOTS["Amadd9"]
        eighths = beats * 2
        for step in range(eighths):
            pitch = root + 12 if step == 5 and root < 36 else root
            if step == eighths - 1:
                pitch = following - 1 if following > root else following + 2  # walks into the next chord
            part.note(0, beat + step / 2, 0.44, pitch, 92 if step % 4 == 0 else 80)
    part.note(0, CODA, 5, BASS_ROOTS["Amadd9"], 92)
    return part


def drums():
    kick, stick, snare, closed, pedal, opened, crash, ride = 36, 37, 38, 42, 44, 46, 49, 51
    high, middle, low, floor = 48, 47, 45, 41
    part = Part(seed=3, looseness=0.004)
    part.setup(9, program=0, volume=100, reverb=10)

    def hit(beat, drum, velocity):
        part.note(9, beat, 0.2, drum, velocity)

    for beat in range(8):
        hit(INTRO + beat, closed if beat >= 4 else pedal, 58 + 3 * beat)
    for beat, drum, velocity in [(6, stick, 60), (7, snare, 70), (7.5, snare, 84), (7.75, snare, 92)]:
        hit(INTRO + beat, drum, velocity)

    for bar in range(8):
        start = VERSE + bar * BAR
        fill = bar == 7
        if bar == 0:
            hit(start, crash, 84)
        for step in range(4 if fill else 8):
            hit(start + step / 2, opened if bar % 4 == 3 and step == 7 else closed, 78 if step % 2 == 0 else 58)
        for beat in [0, 1.5] if fill else [0, 1.5, 2] + ([3.5] if bar % 2 else []):
            hit(start + beat, kick, 96 if beat == 0 else 84)
        for beat in [1] if fill else [1, 3]:
            hit(start + beat, snare, 92)
        if fill:
            for step, drum in enumerate([snare, snare, high, high, middle, low, floor, floor]):
                hit(start + 2 + step / 4, drum, 84 + 4 * step)

    for bar in range(8):
        start = CHORUS + bar * BAR
        fill = bar == 7
        if bar in (0, 4):
            hit(start, crash, 104)
        for step in range(4 if fill else 8):
            hit(start + step / 2, ride, 82 if step % 2 == 0 else 62)
        for beat in [0, 0.5, 1.5] if fill else [0, 1.5, 2, 2.5] + ([3.75] if bar % 2 else []):
            hit(start + beat, kick, 102 if beat == 0 else 88)
        for beat in [1] if fill else [1, 3]:
            hit(start + beat, snare, 104)
        if fill:
            for step, drum in enumerate([snare, high, high, snare, middle, middle, low, floor]):
                hit(start + 2 + step / 4, drum, 88 + 4 * step)
        else:
            for beat in [1.75, 2.25] if bar % 2 else [2.25]:
                hit(start + beat, snare, 38)  # ghost notes

    for drum, velocity in [(crash, 112), (kick, 108), (snare, 84)]:
        hit(CODA, drum, velocity)
    return part


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: demo-song.py FOLDER")
    folder = Path(sys.argv[1])
    for name, part in [("guitar", guitar()), ("bass", bass()), ("drums", drums())]:
        part.write(folder / f"{name}.mid")


if __name__ == "__main__":
    main()
