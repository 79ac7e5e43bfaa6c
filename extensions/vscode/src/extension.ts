/**
 * Lineshaft in VS Code: one host, one connection, and what a person sees of them.
 */

import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import * as vscode from "vscode";

import { type BeginInShell, Commands } from "./commands/commands.ts";
import { environment } from "./commands/environment.ts";
import { CHILD_PROCESS, inTerminal, whereOf } from "./commands/means.ts";
import { ShellCommands } from "./commands/shell/command.ts";
import { Orders } from "./commands/shell/orders.ts";
import { ShellTerminals } from "./commands/shell/terminals.ts";
import { Unavailable } from "./commands/shell/unavailable.ts";
import { Terminals } from "./commands/terminals.ts";
import { Buffers } from "./files/buffers.ts";
import { Diagnostics } from "./files/diagnostics.ts";
import { Documents } from "./files/documents.ts";
import { Files } from "./files/files.ts";
import { Landing } from "./files/landing.ts";
import { UnsavedChanges } from "./files/unsaved.ts";
import { type Place, runForPerson, ScriptTool, TOOL } from "./language/scripts.ts";
import { type Offer, offersTool, type Situation } from "./language/served.ts";
import { ServerDefinitions, takesServers } from "./language/server.ts";
import { Invocations, LanguageTools } from "./language/tools.ts";
import type { Kept } from "./protocol/executions.ts";
import { Panel } from "./panel/panel.ts";
import { chosenPython, type Python } from "./python/carried.ts";
import { answerOf, endAllStarted, startLineshaft } from "./python/lineshaft.ts";
import { RunActs } from "./runs/acts.ts";
import { RunReader } from "./runs/reader.ts";
import { RunTree } from "./runs/tree.ts";
import { Actions } from "./window/actions.ts";
import { Choices } from "./window/choices.ts";
import { Connection, conversationOf } from "./window/connection.ts";
import { type Asks, Consent } from "./window/consent.ts";
import { type Host, knownHost, startHost } from "./window/host.ts";
import { Reviews } from "./window/reviews.ts";
import { showsTexts } from "./window/shown.ts";
import { questionOf, rowOf, titleOf } from "./window/texts.ts";
import { Turns } from "./window/turns.ts";
import { COMMAND_SECONDS, within } from "./window/bounds.ts";

const KEPT = "lineshaft.executions";
/** Starts of a host that ended by itself, before a person is told. */
const MOST_STARTS = 3;
const AGAIN_MS = 1_000;
const LOOK_MS = 50;
const CONNECT_MS = 30_000;
/** The editor does not say when its tools are others. */
const TOOLS_MS = 2_000;

function setting<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("lineshaft").get<T>(name) ?? otherwise;
}

class Window implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #log = vscode.window.createOutputChannel("Lineshaft", { log: true });
  readonly #status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  readonly #terminals = new Terminals();
  readonly #diagnostics = new Diagnostics();
  readonly #turns = new Turns(() => { this.#show(); });
  readonly #shells = new ShellTerminals(() => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir());
  readonly #consent = new Consent(() => setting<Asks>("consent", "commands"), this.#turns, () => this.#where());
  readonly #choices = new Choices(this.#turns);
  readonly #reviews = new Reviews(this.#turns);
  readonly #invocations = new Invocations();
  readonly #tools = new LanguageTools(this.#invocations, () => ({
    tools: setting<boolean>("tools", true),
    edits: setting<boolean>("editTools", false),
  }));
  readonly #tree = new RunTree((text) => { this.#log.warn(text); });
  readonly #panel = new Panel({
    agent: () => setting<string>("agent", ""),
    say: async (frame) => {
      await this.#ready();
      await this.#connection?.say(frame);
    },
    choose: () => this.#chooseAgent(),
  });
  readonly #orders: Orders;
  readonly #acts = new RunActs(this.#tree, () => ({
    python: this.#python(),
    workspace: async () => {
      const { root } = await this.#ready();
      return `vscode:${root}`;
    },
    reader: async () => {
      await this.#ready();
      if (this.#reader === undefined) throw new Error("Lineshaft is not connected: see its log");
      return this.#reader;
    },
    approve: (event, signal) => this.#consent.approve(event, signal, () => undefined),
    stopAgent: async (run) => {
      if (!this.#panel.running || this.#panel.run !== run) return false;
      await this.#panel.stop();
      return true;
    },
    log: (text) => { this.#log.info(text); },
  }));
  #reader: RunReader | undefined;
  #host: Host | undefined;
  #tool: vscode.Disposable | undefined;
  #connection: Connection | undefined;
  #starting = false;
  #starts = 0;
  /** A start during which there was another stop has no effect. */
  #stops = 0;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.#orders = new Orders([process.execPath, join(context.extensionPath, "dist", "runner.cjs")]);
    const commands: Record<string, () => unknown> = {
      start: () => {
        this.#starts = 0;
        return this.start();
      },
      stop: () => this.end(),
      review: () => { this.#turns.next(); },
      runScript: () => this.#runScript(),
      running: () => this.#running(),
      stopEverything: () => { this.#stopEverything(); },
      chooseAgent: () => this.#chooseAgent(),
      doctor: () => { this.#doctor(); },
      log: () => { this.#log.show(); },
    };
    for (const [name, act] of Object.entries(commands)) {
      context.subscriptions.push(vscode.commands.registerCommand(`lineshaft.${name}`, act));
    }
    context.subscriptions.push(
      this, this.#log, this.#status, this.#terminals, this.#shells, this.#orders, this.#consent, this.#choices, this.#reviews, showsTexts(),
      this.#tree, this.#acts, this.#panel,
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.startIfWanted()),
    );
    const servers = new ServerDefinitions(() => this.#situation(), () => this.#ready());
    const another = (): void => {
      const enabled = setting<boolean>("enabled", true);
      const offered = offersTool({ enabled, offer: setting<Offer>("offer", "tool"), takesServers: takesServers() });
      void vscode.commands.executeCommand("setContext", "lineshaft.offersTool", offered);
      this.#offerTool(offered);
      if (!enabled) void this.end();
      servers.changed();
    };
    context.subscriptions.push(
      servers,
      vscode.workspace.onDidGrantWorkspaceTrust(another),
      vscode.workspace.onDidChangeWorkspaceFolders(another),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("lineshaft")) another();
      }),
    );
    another();
    const looking = setInterval(() => { this.#connection?.offer(); }, TOOLS_MS);
    context.subscriptions.push(new vscode.Disposable(() => { clearInterval(looking); }));
    this.#show();
    this.#status.show();
  }

  /** Has agents of the editor find the tool, or not. */
  #offerTool(offered: boolean): void {
    // Editors that are like VS Code need not have language models.
    const models = vscode.lm as typeof vscode.lm | undefined;
    if (offered && this.#tool === undefined && typeof models?.registerTool === "function") {
      this.#tool = models.registerTool(TOOL, new ScriptTool(() => this.#ready(), this.#invocations));
    } else if (!offered) {
      this.#tool?.dispose();
      this.#tool = undefined;
    }
  }

  async #situation(): Promise<Situation> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    return {
      enabled: setting<boolean>("enabled", true),
      offer: setting<Offer>("offer", "tool"),
      takesServers: takesServers(),
      isTrusted: vscode.workspace.isTrusted,
      root: folder?.scheme === "file" ? await realpath(folder.fsPath) : null,
      python: this.#python(),
    };
  }

  /** Starts the host where none runs, and waits until this window is connected. */
  async #ready(): Promise<Place> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (folder?.scheme !== "file") throw new Error("open a folder of this machine first");
    if (!vscode.workspace.isTrusted) throw new Error("trust the folder first");
    await this.start();
    for (let waited = 0; this.#connection?.connected !== true; waited += LOOK_MS) {
      if (waited >= CONNECT_MS) throw new Error("Lineshaft is not connected: see its log");
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
    return { root: await realpath(folder.fsPath), python: this.#python() };
  }

  /** Runs the script that the person looks at, as it stands in the editor. */
  async #runScript(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined) {
      void vscode.window.showInformationMessage("Lineshaft: open a script first");
      return;
    }
    const title = `Lineshaft: ${basename(document.fileName)}`;
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    try {
      const run = await vscode.window.withProgress(options, async (_, token) =>
        await runForPerson(await this.#ready(), document.getText(), token));
      this.#log.info(`${title}: ${JSON.stringify(run, null, 2)}`);
      this.#log.show(true);
      void vscode.window.showInformationMessage(`${title}: ${String(run["status"])}`);
    } catch (error) {
      if (error instanceof vscode.CancellationError) return;
      const text = error instanceof Error ? error.message : String(error);
      void vscode.window.showErrorMessage(`${title}: ${text.slice(0, 300)}`);
    }
  }

  #python(): Python {
    return chosenPython(setting<string>("python", ""), this.#context.extensionPath);
  }

  /** Ends what runs here: actions, scripts and the agent that this window began. */
  #stopEverything(): void {
    if (this.#panel.running) void this.#panel.stop();
    endAllStarted();
    this.#connection?.stopAll();
  }

  /** Lets the person choose the agent of the panel among those that Lineshaft knows here. */
  async #chooseAgent(): Promise<void> {
    try {
      const { root, python } = await this.#ready();
      const told = await answerOf(startLineshaft(python, ["agent", "list", "--json", "--workspace", root]));
      const agents = (Array.isArray(told["agents"]) ? told["agents"] : []) as Record<string, unknown>[];
      const items = agents.map((each) => ({
        label: String(each["name"]),
        detail: String(each["description"]).split("\n", 1)[0] ?? "",
      }));
      const chosen = await vscode.window.showQuickPick(items, {
        title: "Lineshaft: which agent do messages go to?",
        placeHolder:
          items.length === 0
            ? "There is none: declare [agents.NAME] in lineshaft.toml, or name a module with agents"
            : "Kept in your settings, for all folders",
      });
      if (chosen !== undefined) {
        const settings = vscode.workspace.getConfiguration("lineshaft");
        await settings.update("agent", chosen.label, vscode.ConfigurationTarget.Global);
      }
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      void vscode.window.showErrorMessage(`Lineshaft: ${text.slice(0, 500)}`);
    }
  }

  async startIfWanted(): Promise<void> {
    if (!setting<boolean>("enabled", true)) return;
    const known = setting<string>("addressFile", "") !== "";
    const wanted = setting<boolean>("startAutomatically", false) && vscode.workspace.isTrusted;
    if (known || wanted) await this.start();
  }

  async start(): Promise<void> {
    if (this.#connection !== undefined || this.#starting) return;
    this.#starting = true;
    const stops = this.#stops;
    const isStopped = (): boolean => stops !== this.#stops;
    try {
      await this.#start(() => isStopped() || !setting<boolean>("enabled", true));
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#log.error(text);
      if (isStopped()) return;
      await this.stop();
      void vscode.window.showErrorMessage(`Lineshaft did not start: ${text.slice(0, 300)}`);
    } finally {
      if (!isStopped()) this.#starting = false;
      this.#show();
    }
  }

  /** Starts, unless it is stopped or switched off meanwhile. */
  async #start(isOver: () => boolean): Promise<void> {
    if (!setting<boolean>("enabled", true)) {
      throw new Error("Lineshaft is switched off: see the setting lineshaft.enabled");
    }
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (folder?.scheme !== "file") throw new Error("open a folder of this machine first");
    const root = await realpath(folder.fsPath);
    const file = setting<string>("addressFile", "");
    if (file === "" && !vscode.workspace.isTrusted) {
      throw new Error("trust the folder first: nothing is started in one that is not trusted");
    }
    if (isOver()) return;
    const host = file === "" ? await startHost(this.#python(), root) : await knownHost(file);
    if (isOver()) {
      host.stop();
      return;
    }
    this.#host = host;
    void host.ended.then((text) => {
      if (this.#host !== host) return;
      this.#log.error(text);
      this.#again();
    });
    this.#reader = new RunReader(host.address);
    this.#tree.tellOf(this.#reader);
    const before = this.#context.workspaceState.get<{ conversation: string; kept: Kept }>(KEPT);
    const conversation = await conversationOf(host.address, before?.conversation);
    if (isOver()) {
      host.stop();
      return;
    }
    this.#panel.begin();
    const about = {
      window: vscode.env.sessionId,
      editor: `${vscode.env.appName} ${vscode.version}`,
      version: (this.#context.extension.packageJSON as { version: string }).version,
    };
    this.#connection = new Connection(
      host.address,
      conversation,
      about,
      {
        load: (id) => (before?.conversation === id ? before.kept : undefined),
        save: (id, kept) => void this.#context.workspaceState.update(KEPT, { conversation: id, kept }),
      },
      this.#side(root),
    );
    this.#log.info(`host ${host.address.url}, conversation ${conversation}, folder ${root}`);
  }

  #side(root: string): ConstructorParameters<typeof Connection>[4] {
    const settings = () => ({
      python: this.#python().program,
      seconds: within(setting<unknown>("commandSeconds", COMMAND_SECONDS.otherwise), COMMAND_SECONDS),
      passEnvironment: setting<string[]>("passEnvironment", []),
    });
    const buffers = new Buffers(root);
    const unsaved = new UnsavedChanges(buffers, (question, signal, open) =>
      this.#choices.ask(questionOf(question), signal, open), () => setting<string>("review", "off") === "ask");
    const actions = new Actions(
      new Files(root, new Documents()),
      new Commands(root, settings, (command, hidden, listener) =>
        this.#terminals.show(command, hidden, listener), () => this.#beginInShell()),
      (action, signal) => this.#diagnostics.get(root, action, signal),
      (action, signal) => this.#tools.call(action, signal),
      { buffers, landing: new Landing(root, unsaved), unsaved },
      {
        isTrusted: () => vscode.workspace.isTrusted,
        obtain: (event, signal, open) => this.#consent.obtain(event, signal, open),
        review: (action, signal, open) => this.#reviews.review(action, signal, open),
        approve: (event, signal, open) => this.#consent.approve(event, signal, open),
      },
    );
    return {
      perform: async (event, signal, open) => {
        // A workspace asks for buffers all the time.
        if (event.action.kind === "buffers") return await actions.perform(event, signal, open);
        this.#log.info(`action ${event.id}: ${titleOf(event.action).slice(0, 500)}`);
        const done = await actions.perform(event, signal, open);
        const failure = done.observation === "error" ? `: ${done.content.slice(0, 500)}` : "";
        this.#log.info(`action ${event.id} ended with ${done.observation}${failure}`);
        return done;
      },
      tools: () => this.#tools.offered(),
      display: (frame) => { this.#panel.take(frame); },
      changed: () => {
        if (this.#connection?.connected === true) this.#starts = 0;
        this.#show();
      },
      refused: (code) => {
        if (code === "no_conversation" || code === "taken") {
          void this.#context.workspaceState.update(KEPT, undefined).then(() => { this.#again(); });
        }
      },
      log: (level, text) => { this.#log[level](text); },
    };
  }

  /** Begins commands in terminals of the person, where they have chosen that. */
  #beginInShell(): BeginInShell | null {
    if (setting<string>("terminal", "process") !== "shell") return null;
    const shells = new ShellCommands(this.#orders, (hidden, signal) => this.#shells.open(hidden, signal));
    return async (start) => {
      const place = inTerminal(this.#shells.shell().name);
      return { command: await shells.begin(start), where: whereOf(place, start.env) };
    };
  }

  /** Where a command would run, in words. */
  #where(): string {
    const env = environment(process.env, setting<string[]>("passEnvironment", []));
    if (setting<string>("terminal", "process") !== "shell") return whereOf(CHILD_PROCESS, env);
    try {
      const place = `${inTerminal(this.#shells.shell().name)} (${CHILD_PROCESS} where that does not come up)`;
      return whereOf(place, env);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return whereOf(`${CHILD_PROCESS} (not in a terminal: ${error.message})`, env);
    }
  }

  /** Begins anew, with a host and a conversation of its own, unless that was tried often. */
  #again(): void {
    void this.stop();
    this.#starts += 1;
    const stops = this.#stops;
    if (this.#starts <= MOST_STARTS) {
      setTimeout(() => { if (stops === this.#stops) void this.start(); }, AGAIN_MS);
    } else {
      void vscode.window.showErrorMessage("Lineshaft lost its host several times: see its log");
    }
  }

  /** Ends what this window began, also over a host that goes on, and is off. */
  async end(): Promise<void> {
    endAllStarted();
    // The agent's end is asked for over a link that may be lost, and the editor may not wait so long.
    this.#connection?.stopAll();
    if (this.#panel.running) await this.#panel.stop();
    await this.stop();
  }

  /** Ends the actions that run, the connection and the host that was started here, or is being so. */
  async stop(): Promise<void> {
    this.#stops += 1;
    this.#starting = false;
    const [connection, host] = [this.#connection, this.#host];
    this.#connection = undefined;
    this.#host = undefined;
    this.#reader = undefined;
    this.#tree.tellOf(undefined);
    this.#panel.lost();
    this.#show();
    await connection?.close();
    host?.stop();
  }

  #show(): void {
    const known = this.#reader !== undefined;
    void vscode.commands.executeCommand("setContext", "lineshaft.started", known);
    const running = this.#connection?.running.length ?? 0;
    const waiting = this.#turns.waiting;
    const [icon, text, command] =
      waiting > 0 ? ["$(question)", `${waiting} waiting`, "review"]
      : running > 0 ? ["$(sync~spin)", `${running} running`, "running"]
      : this.#connection?.connected === true ? ["$(plug)", "connected", "running"]
      : this.#connection !== undefined ? ["$(debug-disconnect)", "not connected", "log"]
      : ["$(circle-slash)", "off", "start"];
    this.#status.text = `${icon} Lineshaft`;
    const refused = this.#connection?.refused ?? "";
    this.#status.tooltip = `Lineshaft: ${refused === "" ? text : refused}`;
    this.#status.command = `lineshaft.${command}`;
    this.#status.backgroundColor =
      waiting > 0 ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  async #running(): Promise<void> {
    const items = this.#connection?.running.map((event) => ({
      ...rowOf(event.action, this.#where()),
      id: event.id,
    })) ?? [];
    const chosen = await vscode.window.showQuickPick(items, {
      canPickMany: true,
      title: "Lineshaft: stop which actions?",
      placeHolder: items.length === 0 ? "No action runs" : "Ticked ones are stopped",
    });
    for (const each of chosen ?? []) this.#connection?.stop(each.id);
  }

  #doctor(): void {
    this.#log.show();
    if (!vscode.workspace.isTrusted) {
      this.#log.warn("trust the folder first: nothing is started in one that is not trusted");
      return;
    }
    this.#log.info(`commands run by bash ${this.#where()}`);
    const python = this.#python();
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const about = folder?.scheme === "file" ? ["--workspace", folder.fsPath] : [];
    const child = startLineshaft(python, ["doctor", "--quick", ...about]);
    child.stdin.end();
    child.on("error", (error) => { this.#log.error(`${python.program} could not be started: ${error.message}`); });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => { this.#log.info(text.trimEnd()); });
    }
  }

  dispose(): void {
    this.#tool?.dispose();
    this.#diagnostics.dispose();
    void this.stop();
  }
}

let opened: Window | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  opened = new Window(context);
  await opened.startIfWanted();
}

/** VS Code waits for it: no command outlives its window. */
export async function deactivate(): Promise<void> {
  await opened?.end();
}
