import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { startChains } from '../test/support/chains.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { PrivateFigures, PrivateWorkerSettings } from './private-worker.ts'
import type { Result } from './results.ts'

/*
 * Private exchanges of ether for bitcoin through Monero by one worker, on real nodes. Each Monero payment between the legs locks its
 * change for ten blocks, so the number of unlocked outputs limits how many payments can be sent at once.
 */
const EXCHANGE_COUNT = 40
const NETWORKS = ['btc', 'eth', 'xmr']
/** Values of the setting `monero.outputsReady`. The last is its default. */
const OUTPUTS_READY = [1, 4, 16]
const OUTPUTS_GOAL = 1.4

export async function benchPrivate(infrastructure: Infrastructure, print: (line: string) => void): Promise<Result[]> {
  const chains = await startChains(infrastructure.folder, NETWORKS)
  try {
    const { networks } = JSON.parse(readFileSync(chains.file, 'utf8')) as ChainsFile
    if (!networks.some(({ network }) => network === 'xmr')) {
      print('private: skipped, monerod and monero-wallet-rpc are not installed')
      return []
    }
    const measurements: { outputs: number; figures: PrivateFigures }[] = []
    for (const outputs of OUTPUTS_READY) {
      const figures = await measure(infrastructure, chains.file, outputs)
      measurements.push({ outputs, figures })
      print(
        `private: ${outputs} outputs ready, ${perMinute(figures).toFixed(1)} exchanges per minute, ${figures.transactions} transactions`,
      )
    }
    return toResults(measurements)
  } finally {
    await chains.stop()
  }
}

async function measure(
  infrastructure: Infrastructure,
  chainsFile: string,
  outputsReady: number,
): Promise<PrivateFigures> {
  const { worker: databaseUrl } = await infrastructure.createDatabase(`private_${outputsReady}`)
  const settings: PrivateWorkerSettings = { databaseUrl, chainsFile, count: EXCHANGE_COUNT, outputsReady }
  const process = await infrastructure.startProcess('private-worker.ts', settings)
  const figures = {
    seconds: process.report('seconds'),
    signingSeconds: process.report('signingSeconds'),
    transactions: process.report('transactions'),
    blockedShare: process.report('blockedShare'),
  }
  await process.stop()
  return figures
}

const perMinute = ({ seconds }: PrivateFigures): number => (EXCHANGE_COUNT * 60) / seconds

/** Compares the default of the setting with a single output. */
function toResults(measurements: readonly { outputs: number; figures: PrivateFigures }[]): Result[] {
  const [one, many] = [measurements[0], measurements.at(-1)]
  if (!one || !many) return []
  const details = measurements.map(({ outputs, figures }) => {
    const { transactions, blockedShare } = figures
    const payments = (EXCHANGE_COUNT / transactions).toFixed(1)
    return `${outputs}: ${perMinute(figures).toFixed(1)} a minute, ${payments} payments per transaction, no unlocked output ${(blockedShare * 100).toFixed(0)} % of the time`
  })
  return [
    {
      name: `private exchanges, ${many.outputs} Monero outputs ready ÷ one`,
      figures: [{ value: perMinute(many.figures) / perMinute(one.figures), goal: { atLeast: OUTPUTS_GOAL } }],
      note: `${EXCHANGE_COUNT} exchanges, one every 0.25 s, from the first creation to the last payment; ${details.join('; ')}`,
    },
  ]
}
