/** How long requests took, by route, method and status, each of a bounded set. */
export type RequestHistogram = Readonly<{
  observe(route: string, method: string, status: number, seconds: number): void
  /** Prometheus text (exposition format 0.0.4), as prom-client writes it. */
  render(): string
}>

type Series = { labels: string; counts: Float64Array; sum: number }

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Every request is counted, and a quote costs a few microseconds: prom-client, which makes and checks the labels each time,
 * takes one of them.
 *
 * @param buckets upper bounds in seconds, ascending
 */
export function createRequestHistogram(name: string, help: string, buckets: readonly number[]): RequestHistogram {
  const byRoute = new Map<string, Map<string, Map<number, Series>>>()
  const all: Series[] = []

  const add = (route: string, method: string, status: number): Series => {
    const labels = `route="${escapeLabel(route)}",method="${method}",status="${status}"`
    const series = { labels, counts: new Float64Array(buckets.length + 1), sum: 0 }
    const byMethod = byRoute.get(route) ?? new Map<string, Map<number, Series>>()
    const byStatus = byMethod.get(method) ?? new Map<number, Series>()
    byRoute.set(route, byMethod.set(method, byStatus.set(status, series)))
    all.push(series)
    return series
  }

  return {
    observe: (route, sentMethod, status, seconds) => {
      const method = METHODS.has(sentMethod) ? sentMethod : 'other'
      const series = byRoute.get(route)?.get(method)?.get(status) ?? add(route, method, status)
      let at = 0
      while (at < buckets.length && seconds > (buckets[at] ?? Number.POSITIVE_INFINITY)) at += 1
      series.counts[at] = (series.counts[at] ?? 0) + 1
      series.sum += seconds
    },
    render: () => {
      const lines = all.flatMap((series) => linesOf(name, buckets, series))
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n')
    },
  }
}

function linesOf(name: string, buckets: readonly number[], { labels, counts, sum }: Series): string[] {
  let total = 0
  const bounds = [...buckets, '+Inf'].map((bound, at) => {
    total += counts[at] ?? 0
    return `${name}_bucket{le="${bound}",${labels}} ${total}`
  })
  return [...bounds, `${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${total}`]
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
