import RenderCore

/// Which slots are taken, and by which tenant, and which channel meters belong to them.
struct SlotTable {
    private var tenants: [UInt16]
    private var free: [Int]

    init(capacity: Int) {
        tenants = Array(repeating: 0, count: capacity)
        free = Array((0..<capacity).reversed())
    }

    /// A free slot for a new tenant; nil when all are taken.
    mutating func take() -> SlotID? {
        guard let index = free.popLast() else { return nil }
        tenants[index] &+= 1
        return SlotID(index: UInt16(index), tenant: tenants[index])
    }

    /// Gives a slot back; the last one given back is the last to be taken again.
    mutating func giveBack(_ slot: SlotID) {
        free.insert(Int(slot.index), at: 0)
    }
}
