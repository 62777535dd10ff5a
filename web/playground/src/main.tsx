import './style.css'
import './progress.css'
import './panels.css'
import { createRoot } from 'react-dom/client'
import { Playground } from './playground.tsx'

const root = document.getElementById('playground')
if (root) createRoot(root).render(<Playground />)
