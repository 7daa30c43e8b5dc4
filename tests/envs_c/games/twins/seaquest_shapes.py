"""The shapes of Seaquest's figures, and their pixels."""

SHARK = ((0x08, 0x0C, 0xDF, 0x7F, 0x7F, 0xD8, 0x10), (0x08, 0x8C, 0xDF, 0x7F, 0x7E, 0xDB, 0x91))
SUBMARINE = ((0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0x3F, 0xFF, 0xFD, 0x7F, 0xFE, 0x80),
             (0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0xBF, 0x7F, 0xFD, 0xFF, 0x7E, 0x80),
             (0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0xBF, 0xFF, 0x7D, 0xFF, 0xFE, 0x00))
SWIMMER = ((0x00, 0x20, 0x10, 0x00, 0x08, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0xF0, 0x20, 0x40, 0x80),
           (0x20, 0x00, 0x20, 0x10, 0x00, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0x30, 0x60, 0x80, 0x00),
           (0x20, 0x20, 0x00, 0x08, 0x08, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0xF0, 0x20, 0x40, 0x80))
BURST = ((0, 0, 0, 0, 0, 0x10, 0x28, 0x10), (0, 0, 0, 0x44, 0x10, 0, 0x28, 0, 0x10, 0x44),
         (0, 0, 0x82, 0x10, 0, 0, 0x54, 0, 0, 0x10, 0x82))
SHOT = (0x3C, 0, 0, 0xF0)


def figure(x, y, rows, mirrored=False, wide=1):
    """The pixels of a figure: a set of (x, y)."""
    return {(x + (7 - k if mirrored else k) * wide + copy, y + row) for row, bits in enumerate(rows) for k in range(8)
            for copy in range(wide) if bits >> (7 - k) & 1}


class Pictures:
    """The figures that a state shows and that can collide, as sets of pixels."""

    def ship(self):
        rows = SUBMARINE[(self.frame + 3) // 4 % 3]
        if self.phase == 2 and self.sinks <= 14:
            rows = BURST[(self.sinks <= 12) + (self.sinks <= 10)]
        return figure(self.x_ship, self.y + 33, rows, not self.facing, 2)

    def copy(self, lane, n):
        """The pixels of a wave's enemy, none if it is not there or not on the screen."""
        x, y = self.x[lane] + 16 * n, 137 - 24 * lane
        if not self.alive[lane] & (4 >> n) or not 0 <= x < 160:
            return set()
        if self.sub[lane]:
            return figure(x, y + 3, SUBMARINE[(self.frame + 3) // 4 % 3], not self.right[lane])
        bob = self.frame // 4 % 16
        return figure(x, y + (bob if bob < 8 else 15 - bob), SHARK[self.pose[lane] > 0], not self.right[lane])

    def enemies(self, lane):
        return self.copy(lane, 0) | self.copy(lane, 1) | self.copy(lane, 2)

    def guests(self, lane):
        x, y = self.guest[lane], 137 - 24 * lane
        if not x:
            return set()
        return figure(x + 2, y + 8, SHOT) if self.sub[lane] else figure(x, y, SWIMMER[self.pose[lane]], not self.right[lane])
