import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../server/src/adapters/embedded/postgres.ts'
import { createKeystore } from '../server/src/adapters/signers/keystore.ts'
import { coinTypes } from '../server/src/start.ts'
import type { BareSettings } from './bare.ts'
import { bareTable, createDatabase, fillStatements, run } from './fill.ts'
import type { HouseSettings } from './house.ts'
import { type Process, start } from './processes.ts'
import { type Comparison, compare, type Pace } from './rounds.ts'
import { onePair, quotePath, creates, polls, quotes } from './requests.ts'
import { get, type Load } from './load.ts'
import { startStubNodes } from './stub-nodes.ts'

const { values } = parseArgs({ options: { only: { type: 'string' }, profile: { type: 'string' }, rounds: { type: 'string' }, rows: { type: 'string' }, awake: { type: 'boolean' } } })
const only = values.only?.split(',')
const wants = (name: string) => only === undefined || only.includes(name)
const pace: Pace = { rounds: Number(values.rounds ?? 5), roundMs: 1500, warmUpMs: 1500 }
const ROWS = Number(values.rows ?? 1_000_000)

const folder = mkdtempSync(join(tmpdir(), 'swapyard-bench-'))
const postgres = await startPostgres({ dataDir: folder })
const stub = await startStubNodes()
const keystore = join(folder, 'keystore.json')
await createKeystore(keystore, 'a passphrase', coinTypes)
const open: Process[] = []
const t0 = Date.now()
const say = (s: string) => console.log(`${((Date.now() - t0) / 1000).toFixed(1)} ${s}`)
const show = (name: string, c: Comparison) => say(`${name} ratio ${c.ratio.toFixed(3)} cpu ${(c.theirsCpu/c.oursCpu).toFixed(3)} (${c.oursCpu.toFixed(1)} vs ${c.theirsCpu.toFixed(1)} us) [${c.lowest.toFixed(2)} ${c.highest.toFixed(2)}] ours ${c.ours.toFixed(0)}/s ${c.oursMs.toFixed(2)}ms theirs ${c.theirs.toFixed(0)}/s ${c.theirsMs.toFixed(2)}ms client ${c.clientBusy.toFixed(2)}`)
try {
  const house = async (name: string, rows: number) => {
    const databaseUrl = await createDatabase(postgres.url, name)
    const settings: HouseSettings = { databaseUrl, keystore, nodes: stub.nodes }
    const process = await start('house.ts', settings, values.profile ?? null)
    open.push(process)
    await run(databaseUrl, [...bareTable, ...fillStatements(rows)])
    say(`filled ${rows}`)
    return process
  }
  const small = await house('small', 1000)
  const base = `http://127.0.0.1:${small.port('house')}`
  const quote = await (await fetch(base + quotePath(onePair, '1.234567'), { headers: { 'x-api-key': 'sandbox' } })).json()
  say(JSON.stringify(quote))
  writeFileSync(join(folder, 'feed.xml'), await (await fetch(`${base}/v1/rates`)).text())
  const bare = await start('bare.ts', { quote, folder } satisfies BareSettings)
  open.push(bare)
  const side = (process: Process, load: Load) => ({ process, load })
  const shared = { connections: 32, status: 200, awake: values.awake ?? false }
  if (wants('quotes')) show('quotes', await compare(side(bare, { ...shared, port: bare.port('bare'), requests: quotes }), side(small, { ...shared, port: small.port('house'), requests: quotes }), pace))
  if (wants('feed')) show('feed', await compare(side(bare, { ...shared, port: bare.port('bare'), requests: [get('/feed.xml')] }), side(small, { ...shared, port: small.port('house'), requests: [get('/v1/rates')] }), pace))
  if (wants('status')) show('status', await compare(side(small, { ...shared, port: small.port('bare'), requests: polls('/exchange', 1000) }), side(small, { ...shared, port: small.port('house'), requests: polls('/v1/cross-chain/exchange/status/standard', 1000) }), pace))
  if (wants('large')) {
    const large = await house('large', ROWS)
    show('large', await compare(side(small, { ...shared, port: small.port('house'), requests: polls('/v1/cross-chain/exchange/status/standard', 1000) }), side(large, { ...shared, port: large.port('house'), requests: polls('/v1/cross-chain/exchange/status/standard', ROWS) }), pace))
  }
  if (wants('creates')) show('creates', await compare(side(small, { ...shared, status: 201, port: small.port('bare'), requests: creates('/exchange') }), side(small, { ...shared, status: 201, port: small.port('house'), requests: creates('/v1/cross-chain/exchange') }), pace))
  say(JSON.stringify(await small.usage()))
} finally {
  for (const process of open) await process.stop()
  await stub.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
