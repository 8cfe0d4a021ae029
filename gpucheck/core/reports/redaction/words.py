"""Common words that do not identify a host or user."""

import re

# Technical words: a user called "keras" is redacted only in paths.
_NAMES = """
root user users admin ubuntu debian centos fedora runner nobody daemon wheel video render host hostname localhost home
docker podman container worker chief ps cuda gpu gpus cpu tpu nvidia keras tensorflow python linux windows darwin macos
test train training model models data local system default node none true false null unknown secret token value serial
uuid email guid mac ip id the and for not passed failed skipped error warning driver kernel library memory device name
jupyter jovyan colab vscode app bin lib usr opt var tmp etc dev proc sys mnt share
info debug trace notice warn fatal critical unable invalid failure please
port address addr form server master coordinator client peer proxy gateway example path folder file
data scratch work workspace content git sudo oauth2
"""
# Words found in the position of a name: "for user input", "connect to host with".
_PROSE = """
is was are were has had have been be can cannot could may must should will would does did do with without when while where
which who that this these those there here then than from into onto over under about after before because between both but
only other another any all some each every more most less least same such own too very just also again still yet now new old
space mode code input output interface defined specified supplied provided given account accounts group groups namespace
session sessions process processes program programs function functions level agent experience request requests access
settings config configuration configured option options environment variable variables errors failing
machine machines network list names buffer callback custom event events error exception state time limit permission
permissions rights privileges guide page manual documentation key keys task tasks tensor tensors tensors' copy transfer
"""
COMMON = frozenset(_NAMES.split())
WORDS = COMMON | frozenset(_PROSE.split())

# Folders that every machine has, or that installers create.
_FOLDERS = """
usr local lib lib libs lib64 lib32 libexec bin sbin opt etc var tmp dev proc sys run mnt media srv home users root share shared
include src build dist site packages python pythonx pip venv venvs virtualenv virtualenvs env envs conda miniconda anaconda
miniforge mambaforge micromamba mamba pyenv versions uv tools poetry pipx cache caches nv
cuda cudnn cublas cufft curand cusolver cusparse nvjitlink nccl nvcc cupti nvvm nvrtc runtime tensorrt targets compat stubs
extras nvidia driver drivers gds mps hpc sdk math comm hpcx ucx ucc sharp openmpi mpi intel mkl oneapi compiler latest amd
rocm gcc gnu llvm clang x86 aarch arm sbsa linux windows win darwin ubuntu debian wsl snap nix flatpak program programs files
tensorflow tf keras torch jax jaxlib tpu libtpu triton numpy scipy google colab content kaggle working notebooks jupyter
workspace work app apps data datasets scratch project projects software modules module easybuild spack cvmfs soft arch cm sw
store tools internal python frameworks framework library libraries versions current system private folders default base test
tests train training model models log logs output outputs code repo repos git github runner actions hostedtoolcache
no not found missing empty here there nowhere elsewhere place where some other another old new first second own my the it
computecache stack containers container docker overlay kernel firmware module modules etc ld so conf net security gpu gpus cpu
"""
FOLDERS = frozenset(_FOLDERS.split())
# Placeholders for names and secrets in a redacted text: a command with one of these can't be run.
ALIAS = re.compile(r"(?<![\w-])(?:email|folder|guid|host|id|ip|mac|secret|serial|user|uuid|value|(?:GPU|MIG)-uuid)-\d+(?![\w-])")
