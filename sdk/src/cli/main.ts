#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import packageJson from '../../package.json' with { type: 'json' }
import { createSwapyard } from '../client.ts'
import { SwapyardError } from '../errors.ts'
import { type Arguments, readArguments, readTimeout, UsageError } from './arguments.ts'
import { type Context, exitCodes, isResultUnknown } from './context.ts'
import { exchange, quote, status } from './exchange-commands.ts'
import { swap } from './swap-command.ts'
import { usage } from './usage.ts'

const commands: Readonly<Record<string, (context: Context) => Promise<number>>> = { quote, exchange, status, swap }

async function main(): Promise<number> {
  const args = readArguments(process.argv.slice(2))
  const { help, version, json, timeout, url } = args.values
  if (help || version) {
    process.stdout.write(help ? usage : `${packageJson.version}\n`)
    return exitCodes.done
  }
  const context: Context = {
    swapyard: createSwapyard({
      baseUrl: url ?? process.env['SWAPYARD_URL'] ?? 'http://127.0.0.1:8080',
      apiKey: readApiKey(args),
    }),
    args,
    timeoutMs: readTimeout(timeout),
    progress: (line) => void process.stderr.write(`${line}\n`),
    result: (value, lines) => void process.stdout.write(`${json ? JSON.stringify(value) : lines.join('\n')}\n`),
  }
  return (await commands[args.command]?.(context)) ?? exitCodes.usage
}

function readApiKey({ values }: Arguments): string {
  const path = values['api-key-file']
  const key = path === undefined ? process.env['SWAPYARD_API_KEY'] : readKeyFile(path)
  if (key === undefined || key === '')
    throw new UsageError('an API key is missing: set SWAPYARD_API_KEY or --api-key-file')
  return key
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new UsageError(`--api-key-file: ${path} cannot be read`)
  }
}

/** Prints the failure to stderr and returns the exit code. */
function report(error: unknown): number {
  if (
    error instanceof UsageError ||
    (error instanceof TypeError && /^(baseUrl|apiKey|Invalid URL)/.test(error.message))
  ) {
    process.stderr.write(`${error.message}\n\n${usage}`)
    return exitCodes.usage
  }
  if (!(error instanceof SwapyardError)) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`)
    return exitCodes.defect
  }
  const { code, apiCode, message, errors, requestId } = error
  process.stderr.write(`${apiCode ?? code}: ${message}\n`)
  for (const problem of errors.slice(1)) process.stderr.write(`${problem.code}: ${problem.message ?? ''}\n`)
  if (requestId !== null) process.stderr.write(`request ${requestId}\n`)
  if (code === 'WAIT_TIMEOUT') return exitCodes.timeout
  return isResultUnknown(error) ? exitCodes.noAnswer : exitCodes.refused
}

process.exitCode = await main().catch(report)
