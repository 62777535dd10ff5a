import { encode } from 'uqr'

/** The light border belongs to the code: scanners need it on a dark page too. */
export function QrCode({ text, label }: Readonly<{ text: string; label: string }>) {
  const { data, size } = encode(text, { border: 4 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} width="220" shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
