import { parseArgs } from 'node:util'
import {
  benchBlockScan,
  benchColdQuotes,
  benchCreates,
  benchFeed,
  benchFirstPolls,
  benchMemory,
  benchQuotes,
  benchStatus,
  benchTableSize,
  benchWholeExchanges,
  type Result,
  startBareServer,
} from './benchmarks.ts'
import { type App, type Infrastructure, startInfrastructure } from './infrastructure.ts'
import { benchPrivate } from './private-exchanges.ts'
import { benchReferenceRouters } from './reference-routers.ts'
import { benchSwapQuotes } from './swap-quotes.ts'
import { benchSwaps } from './swap-routing.ts'
import { formatTable } from './table.ts'

/*
 * Prints ratios of measurements of the same run instead of times, so that the results depend little on the machine.
 * docs/performance.md describes each benchmark. A missed goal is printed and does not change the exit code.
 */
const usage = `usage: npm run bench -- [--only quotes,feed,status,size,scan,creates,cold,memory,whole,private,swaps,routers,swapquotes] [--rounds 5] [--round-ms 1500] [--rows 1000000] [--profile FOLDER]`
const SMALL_TABLE_ROWS = 1_000

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    'round-ms': { type: 'string', default: '1500' },
    rows: { type: 'string', default: '1000000' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(usage)
else await main()

async function main(): Promise<void> {
  const startedAt = Date.now()
  const infrastructure = await startInfrastructure(values.profile ?? null)
  try {
    const results = await runAll(infrastructure, (line) =>
      console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s  ${line}`),
    )
    console.log(`\n${formatTable(results)}`)
  } finally {
    await infrastructure.stop()
  }
}

async function runAll(infrastructure: Infrastructure, print: (line: string) => void): Promise<readonly Result[]> {
  const chosen = values.only?.split(',')
  const isChosen = (...names: string[]) => chosen === undefined || names.some((name) => chosen.includes(name))
  const pace = {
    rounds: Number(values.rounds),
    roundMs: Number(values['round-ms']),
    // Until V8 has optimized the hot functions.
    warmUpMs: 2 * Number(values['round-ms']),
  }
  const results: Result[] = []
  const run = async (name: string, bench: () => Promise<Result[]>) => {
    if (!isChosen(name)) return
    print(name)
    try {
      results.push(...(await bench()))
    } catch (error) {
      // Continue with the other benchmarks.
      const reason = error instanceof Error ? error.message : String(error)
      results.push({ name, goal: { atLeast: 0 }, figure: Number.NaN, unit: '', note: `failed: ${reason}` })
    }
  }
  print(`starting an app with ${SMALL_TABLE_ROWS} exchanges`)
  const small = await infrastructure.startApp('few', SMALL_TABLE_ROWS)
  const apps: App[] = [small]
  const bareServer = await startBareServer(infrastructure, small)
  await run('quotes', () => benchQuotes(bareServer, small, pace))
  await run('cold', () => benchColdQuotes(small))
  await run('feed', () => benchFeed(bareServer, small, pace))
  await run('status', () => benchStatus(small, pace))
  // Before the large table is seeded: autovacuum of it would count as work of this benchmark.
  await run('whole', () => benchWholeExchanges(infrastructure))
  if (isChosen('size', 'scan', 'creates')) {
    print(`starting an app with ${values.rows} exchanges`)
    const large = await infrastructure.startApp('many', Number(values.rows))
    apps.push(large)
    await run('size', () => benchTableSize(small, large, pace))
    await run('size', () => benchFirstPolls(large, pace))
    await run('scan', () => benchBlockScan(small, large))
    // Last, because creates insert rows.
    await run('creates', () => benchCreates(large, pace))
  }
  await run('memory', () => benchMemory(apps))
  await run('private', () => benchPrivate(infrastructure, print))
  await run('swaps', benchSwaps)
  await run('routers', benchReferenceRouters)
  await run('swapquotes', () => benchSwapQuotes(infrastructure, pace))
  return results
}
