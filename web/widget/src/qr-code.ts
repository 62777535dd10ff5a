import { encode } from 'uqr'
import { svg } from './dom.ts'

/** ISO/IEC 18004: four modules on each side. */
const QUIET_ZONE = 4

/** Dark on white in every theme: many cameras read no inverted code. */
export function qrCode(text: string, label: string): SVGSVGElement {
  // A screen damages no modules, and a code with fewer is easier to scan.
  const { size, data } = encode(text, { ecc: 'L', border: QUIET_ZONE })
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return svg(
    `0 0 ${size} ${size}`,
    { class: 'qr', part: 'qr', role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' },
    { fill: '#fff', d: `M0 0h${size}v${size}H0z` },
    { fill: '#000', d: dark },
  )
}
