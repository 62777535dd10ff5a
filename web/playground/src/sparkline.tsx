const WIDTH = 240
const HEIGHT = 36

/** A small chart of a number over time. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const min = Math.min(...values)
  const range = Math.max(...values) - min || 1
  const x = (at: number) => (values.length < 2 ? 0 : (at / (values.length - 1)) * WIDTH)
  const y = (value: number) => HEIGHT - 3 - ((value - min) / range) * (HEIGHT - 6)
  const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  const last = values.at(-1)
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.length > 1 ? <polyline points={points} vectorEffect="non-scaling-stroke" /> : null}
      {last === undefined ? null : <circle cx={x(values.length - 1)} cy={y(last)} r="2" />}
    </svg>
  )
}
