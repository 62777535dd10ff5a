import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { startChains } from '../test/support/chains.ts'
import type { Result } from './benchmarks.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { PrivateFigures, PrivateWorkerSettings } from './private-worker.ts'

/*
 * Private exchanges of ether for bitcoin through Monero by one worker, on real nodes. Each Monero payment between the legs locks its
 * change for ten blocks, so the number of unlocked outputs limits how many payments can be sent at once.
 */
const EXCHANGE_COUNT = 40
const NETWORKS = ['btc', 'eth', 'xmr']
/** Values of the setting `monero.outputsReady`. The last is its default. */
const OUTPUTS_READY = [1, 4, 16]

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
  const databaseUrl = await infrastructure.createDatabase(`private_${outputsReady}`)
  const settings: PrivateWorkerSettings = { databaseUrl, chainsFile, count: EXCHANGE_COUNT, outputsReady }
  const worker = await infrastructure.startProcess('private-worker.ts', settings)
  const figures = {
    seconds: worker.report('seconds'),
    signingSeconds: worker.report('signingSeconds'),
    transactions: worker.report('transactions'),
    blockedShare: worker.report('blockedShare'),
  }
  await worker.stop()
  return figures
}

const perMinute = ({ seconds }: PrivateFigures): number => (EXCHANGE_COUNT * 60) / seconds

function toResults(measurements: readonly { outputs: number; figures: PrivateFigures }[]): Result[] {
  const [one] = measurements
  if (!one) return []
  return measurements.flatMap(({ outputs, figures }) => {
    const { transactions, signingSeconds, blockedShare } = figures
    const note = `${(EXCHANGE_COUNT / transactions).toFixed(1)} payments per transaction between the legs, signed within ${signingSeconds.toFixed(0)} s; no unlocked output ${(blockedShare * 100).toFixed(0)} % of the time`
    const rate: Result = {
      name: `private exchanges, ${outputs} outputs ready`,
      goal: null,
      figure: perMinute(figures),
      unit: '/min',
      note,
    }
    const ratio: Result = {
      name: `private exchanges, ${outputs} outputs ready ÷ one`,
      goal: null,
      figure: perMinute(figures) / perMinute(one.figures),
      unit: '',
      note: `${EXCHANGE_COUNT} exchanges, one every 0.25 s, from the first creation to the last payment`,
    }
    return outputs === one.outputs ? [rate] : [rate, ratio]
  })
}
