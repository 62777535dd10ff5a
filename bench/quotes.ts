import { cpus } from 'node:os'
import type { BareServerSettings } from './bare-server.ts'
import type { App, Infrastructure } from './infrastructure.ts'
import { type Load, type LoadResult, quantile, type Request, runAtRate, runLoad } from './load.ts'
import type { Process } from './processes.ts'
import {
  bareCreateRequests,
  createRequests,
  EXCHANGE_PATH,
  fetchFrom,
  MIX,
  mix,
  onePair,
  pollRequests,
  quotePath,
  RATE_PATH,
  STATUS_PATH,
} from './requests.ts'
import type { Result } from './results.ts'
import { type Comparison, compare, describeSpread, type Pace, type Side } from './rounds.ts'
import { exchangeId } from './seed-database.ts'

/*
 * Quotes as partners ask for them: by keep-alive connections that also poll and create, through a proxy that mixes the connections.
 * The bare server answers the same requests with fixed answers behind the same proxy.
 */
const CONNECTIONS = 32
const POLLED_EXCHANGES = 1_000
/** More creates than a round uses, so that the load lasts until the end of the round. */
const CREATES_PER_ROUND = 400
const RATIO_GOAL = 0.45
const P99_GOAL_MS = 10
const LATENCY_ROUNDS = 3
const LATENCY_ROUND_MS = 4_000
const TWO_PROCESSES_GOAL = 1.7
/** For the client, two proxies, two API processes and Postgres. */
const CORES_FOR_TWO_PROCESSES = 6

export async function benchQuotes(infrastructure: Infrastructure, app: App, pace: Pace): Promise<Result[]> {
  const bareServer = await startBareServer(infrastructure, app)
  const [bareProxy, proxy] = [await infrastructure.startProxy(bareServer), await infrastructure.startProxy(app.process)]
  const reference = bareMix(bareServer, bareProxy, app.rows)
  const ours = appMix(app, [app.process], [proxy])
  const comparison = await compare(reference, ours, pace)
  const latency = await measureLatency(app, proxy, comparison.ourPerSecond / 2)
  const peer = await infrastructure.startPeer(app)
  const both = appMix(app, [app.process, peer], [proxy, await infrastructure.startProxy(peer)])
  const scaling = await compare(ours, both, pace)
  await peer.stop()
  return [toRatio(comparison), latency, toScaling(scaling)]
}

/** Starts the bare server with a quote and an exchange of this app. */
async function startBareServer(infrastructure: Infrastructure, { process }: App): Promise<Process> {
  const port = process.report('port')
  const read = async (path: string) => (await (await fetchFrom(port, path)).json()) as object
  const exchange = await read(`${STATUS_PATH}?id=${exchangeId(1)}`)
  const settings: BareServerSettings = {
    feedFile: null,
    routes: [
      { method: 'GET', path: RATE_PATH, answer: await read(quotePath(onePair, '1.234567')) },
      { method: 'GET', path: STATUS_PATH, answer: exchange },
      { method: 'POST', path: EXCHANGE_PATH, answer: exchange },
    ],
  }
  return infrastructure.startProcess('bare-server.ts', settings)
}

function bareMix(bareServer: Process, proxy: Process, rows: number): Side {
  const polls = pollRequests(STATUS_PATH, rows, Math.min(rows, POLLED_EXCHANGES))
  let creates: readonly Request[] = []
  return {
    processes: [bareServer],
    prepare: async () => {
      creates = bareCreateRequests(EXCHANGE_PATH, 2 * CREATES_PER_ROUND)
    },
    run: (ms) => runLoad(loadOf([proxy], mix(polls, creates)), ms),
  }
}

function appMix(app: App, processes: readonly Process[], proxies: readonly Process[]): Side {
  const polls = pollsOf(app)
  let creates: readonly Request[] = []
  return {
    processes,
    prepare: async () => {
      creates = await createRequests(app.process.report('port'), CREATES_PER_ROUND)
    },
    run: (ms) => runLoad(loadOf(proxies, mix(polls, creates)), ms),
  }
}

const pollsOf = ({ rows }: App): readonly Request[] => pollRequests(STATUS_PATH, rows, Math.min(rows, POLLED_EXCHANGES))

const loadOf = (proxies: readonly Process[], next: Load['next']): Load => ({
  ports: proxies.map((proxy) => proxy.report('port')),
  connections: CONNECTIONS,
  next,
})

const MIXED = `${MIX.quotes} quotes to ${MIX.polls} polls and ${MIX.creates} create`

/** Judged by the server's CPU time, because a proxy or a client at its limit would bring the ratio of throughputs close to 1. */
function toRatio({ cpu, throughput, ourPerSecond, theirPerSecond, clientUtilization }: Comparison): Result {
  const rates = `${ourPerSecond.toFixed(0)} and ${theirPerSecond.toFixed(0)} requests a second`
  return {
    name: 'quote ÷ bare route, behind a keep-alive proxy',
    figures: [{ value: cpu.median, goal: { atLeast: RATIO_GOAL } }],
    note: `by the server's CPU time per response, rounds ${describeSpread(cpu)}; throughput ${describeSpread(throughput)}, ${rates}; ${MIXED}; client ${(clientUtilization * 100).toFixed(0)} % busy`,
  }
}

async function measureLatency(app: App, proxy: Process, perSecond: number): Promise<Result> {
  const polls = pollsOf(app)
  const latencies: number[] = []
  const results: LoadResult[] = []
  for (let round = 0; round < LATENCY_ROUNDS; round++) {
    const count = Math.ceil(((perSecond * LATENCY_ROUND_MS) / 1000 / (MIX.quotes + MIX.polls)) * 1.1) + CONNECTIONS
    const creates = await createRequests(app.process.report('port'), count)
    const result = await runAtRate(loadOf([proxy], mix(polls, creates)), perSecond, LATENCY_ROUND_MS)
    latencies.push(...result.latencies)
    results.push(result)
  }
  latencies.sort((a, b) => a - b)
  const worst = Math.max(...results.map((result) => quantile(result.latencies, 0.99)))
  return {
    name: 'p99 of quotes at half of the highest rate',
    figures: [{ value: quantile(latencies, 0.99), unit: 'ms', goal: { below: P99_GOAL_MS } }],
    note: `${latencies.length} quotes at ${perSecond.toFixed(0)} requests a second through the proxy, from the time at which each was due; median ${quantile(latencies, 0.5).toFixed(2)} ms; p99 of the worst round ${worst.toFixed(1)} ms`,
  }
}

function toScaling({ throughput }: Comparison): Result {
  const cores = cpus().length
  return {
    name: 'quotes, two API processes ÷ one',
    figures: [{ value: throughput.median, goal: { atLeast: TWO_PROCESSES_GOAL } }],
    note: `${cores} cores; rounds ${describeSpread(throughput)}; each process behind its own proxy, one database`,
    ...(cores < CORES_FOR_TWO_PROCESSES
      ? { notJudged: `${cores} cores; client, proxies, processes and Postgres need ${CORES_FOR_TWO_PROCESSES}` }
      : {}),
  }
}
