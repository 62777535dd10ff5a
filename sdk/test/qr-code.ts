type Modules = Readonly<{ modules: readonly (readonly boolean[])[]; size: number }>

/** Reads a QR code that a terminal shows with half blocks. */
export const readQrCode = (lines: readonly string[]): string => decodeQrCode(readModules(lines))

/** Reads the dark modules of a QR code of versions 1 to 5 at level L with one segment of bytes. */
export function decodeQrCode({ modules, size }: Modules): string {
  const isDark = (row: number, column: number) => modules[row]?.[column] === true
  // Format: the mask is bits 12 to 10, which row 8 shows in columns 2 to 4, under the fixed pattern 101 of 101010000010010.
  const mask = [2, 3, 4].reduce((bits, column) => bits * 2 + (isDark(8, column) ? 1 : 0), 0) ^ 0b101
  const version = (size - 17) / 4
  const alignment = version > 1 ? size - 7 : -10
  const isFunction = (row: number, column: number) =>
    (row < 9 && column < 9) ||
    (row < 9 && column >= size - 8) ||
    (row >= size - 8 && column < 9) ||
    row === 6 ||
    column === 6 ||
    (Math.abs(row - alignment) <= 2 && Math.abs(column - alignment) <= 2)
  const bits: number[] = []
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right -= 1
    for (let step = 0; step < size; step++) {
      const row = isUp ? size - 1 - step : step
      for (const column of [right, right - 1])
        if (!isFunction(row, column)) bits.push(isDark(row, column) === isMasked(mask, row, column) ? 0 : 1)
    }
  }
  const read = (at: number, count: number) => bits.slice(at, at + count).reduce((value, bit) => value * 2 + bit, 0)
  if (read(0, 4) !== 0b0100) throw new Error(`the segment has the mode ${read(0, 4)}, not bytes`)
  return String.fromCharCode(...Array.from({ length: read(4, 8) }, (_, n) => read(12 + 8 * n, 8)))
}

function isMasked(mask: number, i: number, j: number): boolean {
  const conditions = [
    (i + j) % 2,
    i % 2,
    j % 3,
    (i + j) % 3,
    (Math.floor(i / 2) + Math.floor(j / 3)) % 2,
    ((i * j) % 2) + ((i * j) % 3),
    (((i * j) % 2) + ((i * j) % 3)) % 2,
    (((i + j) % 2) + ((i * j) % 3)) % 2,
  ]
  return conditions[mask] === 0
}

/** Each character shows two modules, and a full block is a light one, on a dark terminal. The border is one module. */
function readModules(lines: readonly string[]): Modules {
  const rows = lines.flatMap((line) => [
    [...line].map((one) => !'█▀'.includes(one)),
    [...line].map((one) => !'█▄'.includes(one)),
  ])
  const size = (rows[0]?.length ?? 0) - 2
  return { modules: rows.slice(1, size + 1).map((row) => row.slice(1, size + 1)), size }
}
