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
  openBare,
  type Result,
} from './benchmarks.ts'
import { type Ground, type House, openGround } from './infrastructure.ts'
import { benchPrivate } from './private-exchanges.ts'
import { benchOtherRouters } from './reference-routers.ts'
import { benchSwapQuotes } from './swap-quotes.ts'
import { benchSwaps } from './swap-routing.ts'
import { columns } from './table.ts'

/*
 * Ratios of one run, never bare times: what is measured is the program, not the machine. docs/performance.md says what
 * each of them means. A miss is printed and fails nothing.
 */
const usage = `usage: npm run bench -- [--only quotes,feed,status,size,scan,creates,cold,memory,whole,private,swaps,routers,swapquotes] [--rounds 5] [--round-ms 1500] [--rows 1000000] [--profile FOLDER]`
const FEW = 1_000

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
  const ground = await openGround(values.profile ?? null)
  try {
    const results = await runAll(ground, (line) =>
      console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s  ${line}`),
    )
    console.log(`\n${columns(results)}`)
  } finally {
    await ground.close()
  }
}

async function runAll(ground: Ground, say: (line: string) => void): Promise<readonly Result[]> {
  const chosen = values.only?.split(',')
  const wants = (...names: string[]) => chosen === undefined || names.some((name) => chosen.includes(name))
  const pace = {
    rounds: Number(values.rounds),
    roundMs: Number(values['round-ms']),
    // Until the engine has compiled what is hot.
    warmUpMs: 2 * Number(values['round-ms']),
  }
  const results: Result[] = []
  const run = async (name: string, bench: () => Promise<Result[]>) => {
    if (!wants(name)) return
    say(name)
    try {
      results.push(...(await bench()))
    } catch (error) {
      // The others are worth having all the same.
      const note = error instanceof Error ? error.message : String(error)
      results.push({ name, goal: { atLeast: 0 }, figure: Number.NaN, unit: '', note: `could not be measured: ${note}` })
    }
  }
  say(`a house with ${FEW} exchanges`)
  const few = await ground.openHouse('few', FEW)
  const houses: House[] = [few]
  const bare = await openBare(ground, few)
  await run('quotes', () => benchQuotes(bare, few, pace))
  await run('cold', () => benchColdQuotes(few))
  await run('feed', () => benchFeed(bare, few, pace))
  await run('status', () => benchStatus(few, pace))
  // Before the large table, which the database goes on tidying: its work would be counted.
  await run('whole', () => benchWholeExchanges(ground))
  if (wants('size', 'scan', 'creates')) {
    say(`a house with ${values.rows} exchanges`)
    const many = await ground.openHouse('many', Number(values.rows))
    houses.push(many)
    await run('size', () => benchTableSize(few, many, pace))
    await run('size', () => benchFirstPolls(many, pace))
    await run('scan', () => benchBlockScan(few, many))
    // Last: they leave rows behind.
    await run('creates', () => benchCreates(many, pace))
  }
  await run('memory', () => benchMemory(houses))
  await run('private', () => benchPrivate(ground, say))
  await run('swaps', benchSwaps)
  await run('routers', benchOtherRouters)
  await run('swapquotes', () => benchSwapQuotes(ground, pace))
  return results
}
