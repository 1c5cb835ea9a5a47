extension RenderState {
    /// Takes every bus, in the plan's order, through its fader to its outputs and to the bus it feeds.
    @_noLocks mutating func mixBuses(
        _ count: Int, outputs: UnsafePointer<UnsafeMutablePointer<Float>>, outputCount: Int, offset: Int
    ) {
        for i in 0..<(unsafe plan.pointee.busCount) {
            let bus = unsafe plan.pointee.buses[i]
            let state = unsafe buses + Int(bus.slot)
            let channels = Int(bus.channelCount)
            let samples = unsafe plan.pointee.buffers + bus.buffer
            unsafe applyFader(of: state, to: samples, channels: channels, frames: count)
            for c in 0..<channels {
                let output = Int(bus.firstOutput) &+ c
                guard bus.firstOutput >= 0 && output < outputCount else { break }
                let target = unsafe outputs[output] + offset
                for n in 0..<count { unsafe target[n] = samples[n &* channels &+ c] }
            }
            if bus.destination >= 0 {
                let next = unsafe plan.pointee.buses[Int(bus.destination)]
                unsafe add(
                    samples, channels, to: plan.pointee.buffers + next.buffer, Int(next.channelCount), count)
            }
            unsafe state.pointee.left.advance(count)
            unsafe state.pointee.right.advance(count)
        }
    }

    /// Multiplies each channel with its side's gain, and meters it.
    @_noLocks private mutating func applyFader(
        of state: UnsafeMutablePointer<BusState>, to samples: UnsafeMutablePointer<Float>, channels: Int,
        frames: Int
    ) {
        for c in 0..<channels {
            let ramp = unsafe c & 1 == 0 ? state.pointee.left : state.pointee.right
            let meter = unsafe meters.active + Int(state.pointee.meter) + c
            let moves = ramp.isMoving
            let gain = ramp.target
            var tally = ChannelTally()
            for n in 0..<frames {
                let x = unsafe samples[n &* channels &+ c]
                let y = x * (moves ? ramp.value(at: n) : gain)
                unsafe samples[n &* channels &+ c] = y
                tally.add(before: x, after: y)
            }
            unsafe tally.add(to: meter)
        }
    }

    /// Adds a bus to the one it feeds: a mono bus to the first two channels, any other channel c to channel c
    /// modulo the target's channels.
    @_noLocks private func add(
        _ source: UnsafeMutablePointer<Float>, _ channels: Int, to target: UnsafeMutablePointer<Float>,
        _ targetChannels: Int, _ frames: Int
    ) {
        if channels == 1 && targetChannels >= 2 {
            for n in 0..<frames {
                let x = unsafe source[n]
                unsafe target[n &* targetChannels] = target[n &* targetChannels] + x
                unsafe target[n &* targetChannels &+ 1] = target[n &* targetChannels &+ 1] + x
            }
            return
        }
        for c in 0..<channels {
            let to = c % targetChannels
            for n in 0..<frames {
                let i = n &* targetChannels &+ to
                unsafe target[i] = target[i] + source[n &* channels &+ c]
            }
        }
    }
}
