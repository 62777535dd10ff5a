import { routes, sandboxRoutes } from '@swapyard/schema'
import { expect, test } from 'vitest'
import { generate, readGenerated } from '../generate.ts'
import { createSwapyard } from './client.ts'

test('the generated files are current: node sdk/generate.ts', async () => {
  const files = Object.entries(await generate())
  expect(files.length).toBe(3)
  for (const [name, text] of files) expect(readGenerated(name)).toBe(text)
})

test('the client has a method for every operation', () => {
  const swapyard = createSwapyard({ baseUrl: 'http://127.0.0.1' })
  const ids = [...Object.keys(routes), ...Object.keys(sandboxRoutes)].filter((id) => id !== 'streamEvents')
  expect(Object.keys(swapyard).toSorted()).toEqual([...ids, 'events', 'waitForExchange', 'waitForSwap'].toSorted())
})
