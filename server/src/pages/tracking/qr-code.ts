import { encode } from 'uqr'
import { type Html, html } from '../../lib/html.ts'

/** ISO/IEC 18004: four modules on each side. */
const QUIET_ZONE = 4

/** Dark on white in every color scheme: many cameras read no inverted code. */
export function qrCode(text: string, label: string): Html {
  // A screen damages no modules, and a code with fewer is easier to scan.
  const { size, data } = encode(text, { ecc: 'L', border: QUIET_ZONE })
  const path = data.flatMap((row, y) => toRuns(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`)).join('')
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`
}

/** Start and length of each run of dark modules. */
function toRuns(row: readonly boolean[]): readonly (readonly [start: number, length: number])[] {
  const runs: [number, number][] = []
  row.forEach((isDark, x) => {
    const last = runs.at(-1)
    if (!isDark) return
    if (last !== undefined && last[0] + last[1] === x) last[1] += 1
    else runs.push([x, 1])
  })
  return runs
}
