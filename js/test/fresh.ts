import { vi } from "vitest";

// Test files share one environment, whose creation takes longer than most of them. Each begins with new modules.
vi.resetModules();
document.head.replaceChildren();
document.body.replaceChildren();
localStorage.clear();
sessionStorage.clear();
