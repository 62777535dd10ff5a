import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

const HEIGHT = 200
/** Distances of the labels, in seconds. */
const DAYS = [1, 2, 7, 14, 28, 91, 365].map((days) => days * 86_400)
/** Room for the bars of the first and the last day. */
const HALF_DAY = 43_200
const LIGHT = ['#1971c2', '#087f5b', '#a35200', '#862e9c', '#c92a2a']
const DARK = ['#4dabf7', '#38d9a9', '#ffa94d', '#da77f2', '#ff8787']

type Day = Readonly<{ day: string; values: readonly string[] }>
type Props = Readonly<{
  days: readonly Day[]
  /** Names of the values of each day. */
  names: readonly string[]
  /** What screen readers get; the table beside the chart has the amounts. */
  label: string
}>

/** A line per value. Amounts become numbers only to be drawn. */
export function DaysChart({ days, names, label }: Props) {
  const { ref: frame, width } = useElementSize<HTMLDivElement>()
  const target = useRef<HTMLDivElement>(null)
  const isDark = useComputedColorScheme('light') === 'dark'
  const drawn = JSON.stringify({ days, names })
  useEffect(() => {
    if (target.current === null || width === 0) return
    const given: Pick<Props, 'days' | 'names'> = JSON.parse(drawn)
    const chart = new uPlot(optionsOf(given.names, width, isDark), toSeries(given), target.current)
    return () => chart.destroy()
  }, [drawn, width, isDark])
  return (
    <div ref={frame} role="img" aria-label={label}>
      <div ref={target} aria-hidden="true" />
    </div>
  )
}

const toSeries = ({ days, names }: Pick<Props, 'days' | 'names'>): uPlot.AlignedData => [
  days.map(({ day }) => Date.parse(day) / 1000),
  ...names.map((_name, n) => days.map(({ values }) => Number(values[n] ?? 0))),
]

/** Of any size; the default rounds to three decimals. */
const showAmount = (amount: number): string => String(Number(amount.toPrecision(6)))
const showDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(5, 10)

function optionsOf(names: readonly string[], width: number, isDark: boolean): uPlot.Options {
  const grid = { stroke: isDark ? '#424242' : '#e9ecef', width: 1 }
  const axis = { stroke: isDark ? '#c9c9c9' : '#343a40', grid, ticks: grid }
  const colors = isDark ? DARK : LIGHT
  const bars = uPlot.paths.bars?.({ size: [0.6, 40] })
  const series = names.map((label, n): uPlot.Series => {
    const stroke = colors[n % colors.length] ?? ''
    // The first is drawn as bars, the others as lines above it, so that none hides another.
    const line = { label, stroke, width: 2, points: { show: false } }
    return n === 0 && bars ? { ...line, fill: `${stroke}44`, width: 1, paths: bars } : line
  })
  return {
    width,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { live: false },
    scales: { x: { range: (_chart, first, last) => [first - HALF_DAY, last + HALF_DAY] } },
    axes: [
      { ...axis, incrs: DAYS, values: (_chart, times) => times.map(showDay) },
      { ...axis, size: 70, values: (_chart, amounts) => amounts.map(showAmount) },
    ],
    cursor: { drag: { setScale: false } },
    series: [{ label: 'Day (UTC)' }, ...series],
  }
}
