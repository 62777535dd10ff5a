import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

const HEIGHT = 200
/** Room for half a bar at both ends, in seconds. */
const HALF_HOUR = 1_800
/** Distances of the labels, in seconds. */
const HOURS = [1, 2, 4, 6, 12].map((hours) => hours * 3_600)

type Hour = Readonly<{ at: string; created: number; finished: number }>

/** The chart repeats numbers that stand beside it, so screen readers get a sentence in its place. */
export function HoursChart({ hours }: Readonly<{ hours: readonly Hour[] }>) {
  const { ref: frame, width } = useElementSize<HTMLDivElement>()
  const target = useRef<HTMLDivElement>(null)
  const isDark = useComputedColorScheme('light') === 'dark'
  const rows = JSON.stringify(hours)
  useEffect(() => {
    if (target.current === null || width === 0) return
    const chart = new uPlot(optionsOf(width, isDark), toSeries(JSON.parse(rows)), target.current)
    return () => chart.destroy()
  }, [rows, width, isDark])
  const most = Math.max(0, ...hours.map(({ created }) => created))
  if (hours.length === 0) return null
  return (
    <div ref={frame} role="img" aria-label={`Exchanges of each hour: at most ${most} created in one hour.`}>
      <div ref={target} aria-hidden="true" />
    </div>
  )
}

const toSeries = (hours: readonly Hour[]): uPlot.AlignedData => [
  hours.map(({ at }) => Date.parse(at) / 1000),
  hours.map(({ created }) => created),
  hours.map(({ finished }) => finished),
]

const showHour = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 16)

function optionsOf(width: number, isDark: boolean): uPlot.Options {
  const text = isDark ? '#c9c9c9' : '#343a40'
  const grid = { stroke: isDark ? '#424242' : '#e9ecef', width: 1 }
  const axis = { stroke: text, grid, ticks: grid }
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] })
  const series = (label: string, stroke: string, fill: string): uPlot.Series => ({
    ...{ label, stroke, fill, width: 1, points: { show: false } },
    ...(bars === undefined ? {} : { paths: bars }),
  })
  return {
    width,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      x: { range: (_chart, min, max) => [min - HALF_HOUR, max + HALF_HOUR] },
      y: { range: (_chart, _min, max) => [0, Math.max(1, max)] },
    },
    legend: { live: false },
    axes: [
      { ...axis, incrs: HOURS, values: (_chart, times) => times.map(showHour) },
      { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000] },
    ],
    cursor: { drag: { setScale: false } },
    series: [
      { label: 'Hour (UTC)' },
      series('Created', isDark ? '#4dabf7' : '#1971c2', isDark ? '#4dabf722' : '#1971c222'),
      series('Finished', isDark ? '#38d9a9' : '#087f5b', isDark ? '#38d9a9aa' : '#087f5baa'),
    ],
  }
}
