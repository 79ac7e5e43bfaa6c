"""Names of tools from other agents, and the tool that does the same here."""

_BY_TOOL = {
    "delete_file": "remove remove_file rm unlink",
    "edit_file": """
        apply_diff apply_patch edit insert_edit_into_file multi_edit multiedit patch patch_file
        replace_in_file replace_string_in_file str_replace str_replace_editor update_file
        """,
    "fetch_url": """
        curl fetch fetch_webpage http_get http_request read_url request_url url_fetch web_fetch
        webfetch
        """,
    "find_files": "file_glob_search file_search find find_file glob glob_files glob_search",
    "list_files": """
        directory_tree list_dir list_directory list_directory_contents list_folder listdir ls
        read_dir read_directory tree walk
        """,
    "move_file": "move mv rename rename_file",
    "python_run": "execute_python python python_exec run_python run_python_code",
    "read_file": """
        cat file_read get_file get_file_contents open_file read read_text_file view view_file
        """,
    "run_command": """
        bash exec_command execute execute_bash execute_command execute_shell_command local_shell
        run run_bash run_in_terminal run_shell run_shell_command run_terminal_cmd sh shell
        shell_exec system terminal
        """,
    "search_text": """
        code_search codebase_search grep grep_files grep_search rg ripgrep search search_code
        search_dir search_file search_file_content search_files search_in_files text_search
        """,
    "write_file": """
        create_dir create_directory create_file file_write make_dir make_directory makedirs mkdir
        save_file write write_to_file
        """,
}

OTHER_NAMES = {name: tool for tool, names in _BY_TOOL.items() for name in names.split()}
"""The tool for each name; in lower case."""
