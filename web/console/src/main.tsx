import { MantineProvider } from '@mantine/core'
import '@mantine/core/styles.css'
import { createRoot } from 'react-dom/client'

/** The server writes a fresh nonce into the page. */
const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? ''
const root = document.getElementById('root')
if (root) createRoot(root).render(<MantineProvider getStyleNonce={() => nonce}>Swapyard console</MantineProvider>)
